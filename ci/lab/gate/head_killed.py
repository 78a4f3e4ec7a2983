#!/usr/bin/env python3
"""mpirun is killed on the head in the pair tier of a gate on a lab without fault.

    head_killed.py --program FABRICGATE --seed SEED

Killed once: the job is started once more and the run is READY. Killed every time: inconclusive with that reason. No node is
blamed in either. Exit 0: so it is; 1: not.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run import Lab  # noqa: E402

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


def gate(program, lab, kills):
    """The gate with its first `kills` launchers of the pair tier killed: what it said, its exit code, its summary."""
    runs = lab.folder / f"runs-{kills}"
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
    print(f"killed {killed}: exit {code}", (runs / "latest" / "table.txt").read_text(), sep="\n")
    return said, code, json.loads((runs / "latest" / "summary.json").read_text())


def problems_of(said, code, summary, expected):
    problems = [] if code == expected else [f"exit code {code}, expected {expected}"]
    if f"{REASON}; {AGAIN}" not in said:
        problems.append("that it is started once more is not said")
    for finding in [f for node in summary["nodes"] for f in node["findings"]]:
        if finding["verdict"] in ("fail", "blocked", "inconclusive"):
            problems.append(f"blamed: {finding['cause']} {finding['subject']}")
    if expected == 2 and REASON not in summary["reason"]:
        problems.append(f"the reason is '{summary['reason']}'")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seed", required=True)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fabricgate-lab-", dir=os.environ.get("FABRICGATE_LABS")))
    with Lab(folder, ["3", "--seed", arguments.seed]) as lab:
        problems = problems_of(*gate(arguments.program, lab, 1), 0) + problems_of(*gate(arguments.program, lab, 2), 2)
    for problem in problems:
        print("not as expected:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
