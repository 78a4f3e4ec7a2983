#!/usr/bin/env python3
"""One command to QEMU's monitor: qmp.py SOCKET COMMAND [ARGUMENTS as JSON] [EVENT to wait for]; prints what it returns."""
import json
import socket
import sys


def main():
    path, command = sys.argv[1:3]
    arguments = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    awaited = sys.argv[4] if len(sys.argv) > 4 else None
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(30)
    connection.connect(path)
    lines = connection.makefile("rw")

    def message(wanted):
        for line in lines:
            answer = json.loads(line)
            if "error" in answer:
                raise SystemExit(f"qmp: {command}: {answer['error']['desc']}")
            if wanted in answer:
                return answer
        raise SystemExit(f"qmp: {command}: QEMU closed the connection")

    def ask(name, **values):
        json.dump({"execute": name, **values}, lines)
        lines.flush()
        return message("return")["return"]

    message("QMP")
    ask("qmp_capabilities")
    answer = ask(command, arguments=arguments)
    while awaited and message("event")["event"] != awaited:
        pass
    if answer:
        print(json.dumps(answer))


main()
