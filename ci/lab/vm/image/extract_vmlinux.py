#!/usr/bin/env python3
"""Takes the ELF kernel out of a bzImage: extract_vmlinux.py BZIMAGE VMLINUX

QEMU boots the ELF through its PVH entry; unpacking it in the guest under TCG would take ten seconds. Offsets are those of
the kernel's Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length.
"""
import lzma
import subprocess
import struct
import sys
import zlib


def unpack(payload):
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(payload)  # a length follows the stream, which lzma.decompress would refuse
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(31).decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return subprocess.run(["zstd", "-dc"], input=payload, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    raise SystemExit(f"extract_vmlinux: unknown compression {payload[:8]!r}")


def main():
    with open(sys.argv[1], "rb") as file:
        image = file.read()
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    kernel = unpack(image[start:start + length])
    if not kernel.startswith(b"\x7fELF"):
        raise SystemExit("extract_vmlinux: no ELF file inside")
    with open(sys.argv[2], "wb") as file:
        file.write(kernel)


main()
