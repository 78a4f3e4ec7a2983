#!/usr/bin/env python3
"""Trouble of the head itself, on a lab whose nodes have no fault. No node is blamed for it.

    head.py --program FABRICGATE --seed SEED --case killed   mpirun is killed in the pair tier. Once: the job is started once
                                                             more, READY. Every time: inconclusive with that reason
    head.py --program FABRICGATE --seed SEED --case ports    the first of the launcher's ports are in use: others are taken,
                                                             READY. All are: inconclusive with the range, at once

Exit 0: so it is; 1: not.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run import Lab, new_folder  # noqa: E402

REASON = "mpirun ended by signal 9 on the head"
AGAIN = "it is started once more"


def launchers(parent):
    """Processes that this one started and that start ranks."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1:].rsplit(")", 1)
        if name in ("mpirun", "prterun") and int(rest.split()[1]) == parent:
            found.append(int(stat.parent.name))
    return found


def kill_launcher(parent):
    while not launchers(parent):
        time.sleep(0.01)
    time.sleep(0.5)  # so that its daemons are at work
    for pid in launchers(parent):
        os.kill(pid, signal.SIGKILL)


def gate(program, lab, kills=0):
    """The gate with its first `kills` launchers of the pair tier killed: what it said, its exit code, its summary."""
    runs = pathlib.Path(tempfile.mkdtemp(prefix="runs-", dir=lab.folder))
    process = subprocess.Popen([program, "gate", lab.folder / "inventory.yaml", "--runs", runs], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, errors="replace")
    killed, said = 0, ""
    for line in process.stderr:
        print(line, end="", flush=True)
        said += line
        if killed < kills and (killed == 0 and line.startswith("pair ") or killed and AGAIN in line):
            kill_launcher(process.pid)
            killed += 1
    code = process.wait(timeout=60)
    print(f"exit {code}", (runs / "latest" / "table.txt").read_text(), sep="\n")
    return said, code, json.loads((runs / "latest" / "summary.json").read_text())


def problems_of(code, summary, expected, reason=""):
    problems = [] if code == expected else [f"exit code {code}, expected {expected}"]
    for finding in [f for node in summary["nodes"] for f in node["findings"]]:
        if finding["verdict"] in ("fail", "blocked", "inconclusive"):
            problems.append(f"blamed: {finding['cause']} {finding['subject']}")
    if reason not in summary["reason"]:
        problems.append(f"the reason is '{summary['reason']}', expected '{reason}' in it")
    return problems


def check_killed(program, lab):
    problems = []
    for kills, expected, reason in ((1, 0, ""), (2, 2, REASON)):
        said, code, summary = gate(program, lab, kills)
        problems += problems_of(code, summary, expected, reason)
        if f"{REASON}; {AGAIN}" not in said:
            problems.append("that it is started once more is not said")
    return problems


def listen(ports):
    found = []
    for port in ports:
        found.append(socket.socket())
        found[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found[-1].bind(("", port))
        found[-1].listen()
    return found


def check_ports(program, lab):
    low, high = map(int, re.search(r"^LAUNCHER_PORTS=(\d+)-(\d+)$", (lab.folder / "plan.sh").read_text(), re.M).groups())
    count = (high - low + 1) // 3
    others = listen(range(low, low + count // 2))
    _, code, summary = gate(program, lab)
    problems = problems_of(code, summary, 0)
    others += listen(range(low + count // 2, low + count))
    _, code, summary = gate(program, lab)
    return problems + problems_of(code, summary, 2, f"the ports {low}-{low + count - 1} of launcher.ports {low}-{high} are all in use")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--case", required=True, choices=["killed", "ports"])
    arguments = parser.parse_args()
    folder = new_folder()
    with Lab(folder, ["3", "--seed", arguments.seed]) as lab:
        problems = {"killed": check_killed, "ports": check_ports}[arguments.case](arguments.program, lab)
    for problem in problems:
        print("not as expected:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
