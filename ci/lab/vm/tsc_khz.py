#!/usr/bin/env python3
"""Prints the rate of this machine's time-stamp counter in kHz.

A guest under QEMU's emulator reads the counter of this machine. Where it has to find out the rate itself while this machine is
busy, it may be wrong by a factor of four, and so is every clock and time limit on it. x86-64 alone.
"""
import ctypes
import mmap
import time

SECONDS = 0.3
# rdtsc; shl rdx, 32; or rax, rdx; ret
CODE = bytes.fromhex("0f31 48c1e220 4809d0 c3")


def main():
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    counter = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def moment():
        """(nanoseconds, counter) read closest to each other, in case this process is interrupted between the two."""
        tries = []
        for _ in range(50):
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            ticks = counter()
            after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            tries.append((after - before, (before + after) / 2, ticks))
        return min(tries)[1:]

    start, first = moment()
    time.sleep(SECONDS)
    end, last = moment()
    print(round((last - first) * 1e6 / (end - start)))


main()
