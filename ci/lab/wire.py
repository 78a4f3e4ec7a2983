#!/usr/bin/env python3
"""Measures one wire of the lab from one process with a socket in either network namespace.

    wire.py rate  FROM_NETNS FROM_ADDRESS TO_NETNS TO_ADDRESS [SECONDS]  prints TCP payload in Mb/s
    wire.py probe FROM_NETNS FROM_ADDRESS TO_NETNS TO_ADDRESS SIZE COUNT prints how many unfragmented UDP packets arrive
    wire.py dial  FROM_NETNS FROM_ADDRESS TO_NETNS TO_ADDRESS COUNT      prints how many TCP connections are made in 0.6 s
    wire.py segment FROM_NETNS FROM_ADDRESS TO_NETNS TO_ADDRESS          prints the bytes of a TCP segment that is sent

A namespace is a name under /run/netns. `rate` counts at the receiver and leaves out the first fifth.
"""
import ctypes
import os
import select
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


def dial(sources, sink, count):
    sink.listen(count)
    begun = time.monotonic()
    for source in sources:
        source.setblocking(False)
        source.connect_ex(sink.getsockname())
    made = set()
    while len(made) < count and time.monotonic() < begun + 0.6:
        ready = select.select([], [s for s in sources if s not in made], [], 0.05)[1]
        made.update(s for s in ready if s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0)
    return made


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
    numbers = list(map(float, sys.argv[6:]))
    kind = socket.SOCK_DGRAM if mode == "probe" else socket.SOCK_STREAM
    count = int(numbers[0]) if mode == "dial" else 1
    sources = [socket_in(from_netns, kind) for _ in range(count)]
    sink = socket_in(to_netns, kind)
    try:
        for source in sources:
            source.bind((from_address, 0))
        if mode == "rate":
            print(f"{rate(sources[0], sink, to_address, *numbers):.1f}")
        elif mode == "probe":
            print(probe(sources[0], sink, to_address, int(numbers[0]), int(numbers[1]), *numbers[2:]))
        else:
            sink.bind((to_address, 0))
            made = dial(sources, sink, count)
            print(len(made) if mode == "dial" else min(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG) for s in made))
    except OSError as error:
        print(f"{error}", file=sys.stderr)
        print(0)


if __name__ == "__main__":
    main()
