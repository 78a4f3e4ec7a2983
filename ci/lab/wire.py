#!/usr/bin/env python3
"""Measures one wire of the lab from one process with a socket in either network namespace.

    wire.py rate  FROM_NETNS FROM_ADDRESS TO_NETNS TO_ADDRESS [SECONDS]  prints TCP payload in Mb/s
    wire.py probe FROM_NETNS FROM_ADDRESS TO_NETNS TO_ADDRESS SIZE COUNT prints how many unfragmented UDP packets arrive

A namespace is a name under /run/netns. `rate` counts at the receiver and leaves out the first fifth.
"""
import ctypes
import os
import socket
import sys
import threading
import time

CLONE_NEWNET = 0x40000000
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
HEADERS = 28  # IPv4 and UDP


def socket_in(namespace, kind):
    """A socket belongs to the namespace of the thread that made it, wherever it is used."""
    handle = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(handle, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns {namespace}")
    os.close(handle)
    return socket.socket(socket.AF_INET, kind)


def rate(source, sink, to_address, seconds=1.0):
    sink.bind((to_address, 0))
    sink.listen()
    source.settimeout(3)
    source.connect(sink.getsockname())
    receiver, _ = sink.accept()

    def send():
        end, block = time.monotonic() + seconds, bytes(1 << 18)
        while time.monotonic() < end:
            source.send(block)
        source.shutdown(socket.SHUT_WR)

    threading.Thread(target=send, daemon=True).start()
    receiver.settimeout(5)
    start, counted, begin, now = time.monotonic(), 0, None, 0.0
    while True:
        data = receiver.recv(1 << 18)
        now = time.monotonic()
        if not data or now > start + seconds:
            break
        if begin is not None:
            counted += len(data)
        elif now > start + seconds / 5:
            begin = now
    return counted * 8e-6 / (now - begin)


def probe(source, sink, to_address, size, count, seconds=0.0):
    sink.bind((to_address, 0))
    sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    source.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    arrived = 0
    sink.settimeout(0.5)
    for number in range(count):
        try:
            source.sendto(bytes(size - HEADERS), sink.getsockname())
        except OSError:
            pass
        if seconds:
            time.sleep(seconds / count)
        elif number % 20 == 0:
            time.sleep(0.002)
    try:
        while True:
            sink.recv(1 << 16)
            arrived += 1
    except socket.timeout:
        return arrived


def main():
    mode, from_netns, from_address, to_netns, to_address = sys.argv[1:6]
    kind = socket.SOCK_STREAM if mode == "rate" else socket.SOCK_DGRAM
    source = socket_in(from_netns, kind)
    sink = socket_in(to_netns, kind)
    try:
        source.bind((from_address, 0))
        if mode == "rate":
            print(f"{rate(source, sink, to_address, *map(float, sys.argv[6:])):.1f}")
        else:
            print(probe(source, sink, to_address, int(sys.argv[6]), int(sys.argv[7]), *map(float, sys.argv[8:])))
    except OSError as error:
        print(f"{error}", file=sys.stderr)
        print(0)


if __name__ == "__main__":
    main()
