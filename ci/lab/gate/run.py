#!/usr/bin/env python3
"""Runs the gate on a lab and holds the answer against a row of faults.tsv.

    run.py --program FABRICGATE --row ID          one fault: lab up, break, gate, compare, lab down
    run.py --program FABRICGATE --clean SEED      a lab without fault: READY, exit 0, nothing that warns of a fault
    run.py --program FABRICGATE --interrupt SEED  Ctrl-C while stage, then gate, is staging: exit 2, a reason for every node,
                                                  and the next stage finishes; Ctrl-C in the pair tier: what was measured is kept
    run.py --program FABRICGATE --two SEED        two gates at once: each node is one's, the other names it, nothing healthy is
                                                  blamed, and the nodes are free afterwards
    run.py --program FABRICGATE --full-head SEED  the disk of the run folder fills up during a job: inconclusive, no node is blamed
    run.py --program FABRICGATE --list            the ids of faults.tsv

The lab lives in a folder of its own under $FABRICGATE_LABS (default: the system's for temporary files). Exit 0: as expected; 1: not.
"""
import argparse
import errno
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parent
CLOSING = {"fail", "blocked", "inconclusive", "not_run"}


def rows():
    table = {}
    for line in (HERE / "faults.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, up, breaks, code, findings = line.split("\t")
            table[name] = {"up": up, "break": breaks, "exit": {int(c) for c in code.split("|")}, "findings": findings}
    return table


def new_folder():
    base = pathlib.Path(os.environ.get("FABRICGATE_LABS") or tempfile.gettempdir())
    base.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(tempfile.mkdtemp(prefix="fabricgate-lab-", dir=base))


class Lab:
    """A lab that is taken down again, come what may."""

    def __init__(self, folder, options):
        self.folder = folder
        self.environment = dict(os.environ, FABRICGATE_LAB=str(folder))
        self.unmanaged, self.overdeclared = "--unmanaged" in options, "--overdeclared" in options
        self.options = [o for o in options if o not in ("--unmanaged", "--overdeclared")] + (["--staged"] if self.unmanaged else [])

    def __enter__(self):
        self.call("up", *self.options)
        plan = (self.folder / "plan.sh").read_text()
        self.nodes = self.array(plan, "NAMES")
        if self.unmanaged:  # the inventory says that nobody repairs settings, so that the link tier meets them
            path = self.folder / "inventory.yaml"
            text = path.read_text()
            for key in ("network", "memlock"):
                text = re.sub(rf"\b{key}: true", f"{key}: false", text)
            path.write_text(text)
        if self.overdeclared:  # ten times the rate that every rail has
            path = self.folder / "inventory.yaml"
            path.write_text(re.sub(r"rate_gbps: (\S+)", lambda m: f"rate_gbps: {10 * float(m.group(1)):g}", path.read_text()))
        return self

    def __exit__(self, *_):
        self.call("down", check=False)

    def call(self, command, *arguments, check=True):
        subprocess.run([LAB / command, *arguments], env=self.environment, check=check, stdin=subprocess.DEVNULL)

    @staticmethod
    def array(plan, key):
        return shlex.split(re.search(rf"^{key}=\((.*)\)$", plan, re.M).group(1))

    def fill(self, text):
        return re.sub(r"\{(\d)\}", lambda m: self.nodes[int(m.group(1))], text)


def expected_findings(lab, text):
    """[(set of causes, {key: set of values})]"""
    wanted = []
    for part in [] if text == "-" else text.split(";"):
        words = lab.fill(part).split()
        keys = {}
        for word in words[1:]:
            key, _, value = word.partition("=")
            keys[key] = set(value.split("|"))
        wanted.append((set(words[0].split("|")), keys))
    return wanted


def matches(want, finding):
    causes, keys = want
    if finding["cause"] not in causes:
        return False
    for key, values in keys.items():
        if finding["subject"].get(key, "") not in values:
            return False
    return "direction" in keys or not finding["subject"].get("direction")


def compare(lab, row, code, summary):
    problems = []
    if code not in row["exit"]:
        problems.append(f"exit code {code}, expected {sorted(row['exit'])}")
    everything = summary["findings"] + [f for node in summary["nodes"] for f in node["findings"]]
    unique = {json.dumps(f, sort_keys=True): f for f in everything}
    closing = [f for f in unique.values() if f["verdict"] in CLOSING and f["primary"]]
    wanted = expected_findings(lab, row["findings"])
    for want in wanted:
        if not any(matches(want, f) for f in closing):
            problems.append(f"missing finding: {want}")
    for finding in closing:
        if not any(matches(want, finding) for want in wanted):
            problems.append(f"unexpected finding: {finding['cause']} {finding['subject']} {finding.get('found', '')}")
    blamed = {f["subject"].get("host") for f in closing} | {f["subject"].get("peer") for f in closing}
    if {f["cause"] for f in closing} == {"launch.job_unfinished"}:  # the run itself could not go on
        blamed |= {n["name"] for n in summary["nodes"] if n["verdict"] == "not_run"}
    for node in summary["nodes"]:
        if node["name"] not in blamed and node["verdict"] not in ("pass", "warn"):
            problems.append(f"{node['name']} is {node['verdict']} though nothing blames it")
    return problems


def run_gate(arguments, lab, breaks):
    beside = []
    for command in [] if breaks == "-" else breaks.split(";"):
        words = lab.fill(command).split()
        if words[0] == "&":
            beside.append(subprocess.Popen([LAB / "break", *words[1:]], env=lab.environment))
        else:
            lab.call("break", *words)
    began = time.monotonic()
    runs = lab.folder / "runs"
    process = subprocess.Popen([arguments.program, "--log", "debug", "gate", str(lab.folder / "inventory.yaml"), "--runs", str(runs)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = b""
    for line in process.stdout:
        said += line
        print(line.decode(errors="replace"), end="", flush=True)
    code = process.wait(timeout=420)
    print(f"gate: exit {code} after {time.monotonic() - began:.1f} s")
    for process in beside:
        try:
            found = process.wait(timeout=90) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            found = False
        if not found:
            show_launcher(lab)
            raise SystemExit("the fault that was to hit during the run did not find its process")
    return code, json.loads((runs / "latest" / "summary.json").read_text()), told_secrets(lab, runs, said)


def told_secrets(lab, runs, said):
    """Where a line of the private key can be read: in what was said, or in the run folder."""
    lines = [line for line in (lab.folder / "id_ed25519").read_bytes().splitlines() if b"-----" not in line]
    files = [path for path in runs.rglob("*") if path.is_file() and not path.is_symlink()]
    texts = [("standard output or error", said)] + [(str(path), path.read_bytes()) for path in files]
    return [f"a line of the private key is in {name}" for name, text in texts if any(line in text for line in lines)]


def show_launcher(lab):
    """What mpirun said, because the lab's folder goes away."""
    for log in sorted((lab.folder / "runs").glob("[!l]*/mpirun-*.log")):
        print(f"--- {log.name}", *log.read_text(errors="replace").splitlines()[-30:], sep="\n  ")


def interrupted(arguments, lab, command):
    """Ctrl-C once staging of a node has begun, one node at a time, so that others are not begun: problems found."""
    runs = lab.folder / f"runs-{command}"
    process = subprocess.Popen([arguments.program, command, str(lab.folder / "inventory.yaml"), "--runs", str(runs)])
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in runs.glob("*/journal/*.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    code = process.wait(timeout=30)
    print(f"{command}: exit {code} {time.monotonic() - began:.1f} s after the interrupt")
    problems = [] if code == 2 else [f"{command}: exit code {code}, expected 2"]
    name = "stage-0.jsonl" if command == "stage" else "records.jsonl"
    records = [json.loads(line) for path in runs.glob(f"[!l]*/{name}") for line in path.read_text().splitlines()]
    staged = {host: record for record in records if record["tier"] == "stage" for host in record["hosts"]}
    for node in lab.nodes:
        if node not in staged or not staged[node].get("reason") and staged[node]["verdict"] != "pass":
            problems.append(f"{command}: {node} has no state with a reason: {staged.get(node)}")
    last = staged.get(lab.nodes[-1], {}).get("reason", "")
    if "interrupted before anything was done" not in last:
        problems.append(f"{command}: the last node was not left alone: {last}")
    return problems


def interrupted_pairs(arguments, lab):
    """Ctrl-C while pairs are measured: problems found."""
    runs = lab.folder / "runs-pairs"
    process = subprocess.Popen([arguments.program, "gate", str(lab.folder / "inventory.yaml"), "--runs", str(runs)],
                               stderr=subprocess.PIPE, text=True, errors="replace")
    sent = False
    for line in process.stderr:
        print(line, end="", flush=True)
        if line.startswith("pair ") and not sent:  # the second would end it at once
            process.send_signal(signal.SIGINT)
            sent = True
    code = process.wait(timeout=60)
    summary = json.loads((runs / "latest" / "summary.json").read_text())
    causes = {f["cause"] for f in summary["findings"]}
    problems = [] if code == 2 else [f"pairs: exit code {code}, expected 2"]
    if "launch.interrupted" not in causes:
        problems.append(f"pairs: launch.interrupted is not among {sorted(causes)}")
    for node in summary["nodes"]:
        if node["tiers"].get("host") != "pass":
            problems.append(f"pairs: what the host tier measured of {node['name']} is not kept: {node['tiers']}")
        if subprocess.run([LAB / "run", node["name"], "pgrep", "fabricgate-rank"], env=lab.environment).returncode == 0:
            problems.append(f"pairs: a rank still runs on {node['name']}")
    return problems


def check_interrupts(arguments, lab):
    inventory = lab.folder / "inventory.yaml"
    inventory.write_text(inventory.read_text().replace("\nssh:\n", "\nssh:\n  window: 1\n"))
    problems = interrupted(arguments, lab, "stage") + interrupted(arguments, lab, "gate")
    for attempt, wanted in (("the next stage", " changed"), ("the one after", "nothing to do")):
        done = subprocess.run([arguments.program, "stage", str(inventory), "--runs", str(lab.folder / "runs")],
                              timeout=300, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0 or wanted not in done.stdout:
            problems.append(f"{attempt}: exit {done.returncode}, expected 0 and '{wanted}':\n{done.stdout}")
    return problems + interrupted_pairs(arguments, lab)


def measured_by(folder, node):
    """Whether a rank of this run looked at the node."""
    lines = (folder / "records.jsonl").read_text().splitlines()
    return any(r["hosts"] == [node] and r["check"] == "host.facts" and r["sample"] for r in map(json.loads, lines))


def check_node_of_two(node, mine, other, problems):
    """A node that `other` measured, in the summary of `mine`."""
    entry = next(n for n in mine["nodes"] if n["name"] == node)
    found = [f for f in entry["findings"] if f["verdict"] in CLOSING and f["primary"]]
    causes = {f["cause"] for f in found}
    if causes != {"stage.node_busy"} or not all(other["run"] in f["found"] for f in found):
        problems.append(f"{node} in {mine['run']}: {found}, expected stage.node_busy that names {other['run']}")


def check_two(arguments, lab):
    inventory = lab.folder / "inventory.yaml"
    folders = [lab.folder / "runs-a", lab.folder / "runs-b"]
    gates = [subprocess.Popen([arguments.program, "gate", inventory, "--runs", folder]) for folder in folders]
    codes = [gate.wait(timeout=400) for gate in gates]
    folders = [next(folder.glob("[!l]*")) for folder in folders]  # one that was refused everywhere is nobody's latest
    runs = [json.loads((folder / "summary.json").read_text()) for folder in folders]
    print(f"two gates: exit {codes}")
    problems = []
    for node in lab.nodes:
        measured = [measured_by(folder, node) for folder in folders]
        if sum(measured) != 1:
            problems.append(f"{node} was measured by {sum(measured)} of the two")
        else:
            check_node_of_two(node, runs[measured.index(False)], runs[measured.index(True)], problems)
    for run in runs:
        for finding in run["findings"] + [f for node in run["nodes"] for f in node["findings"]]:
            if finding["verdict"] in CLOSING and finding["cause"].startswith(("link.", "pair.", "collective.", "launch.")):
                problems.append(f"{run['run']} blames {finding['cause']} {finding['subject']} {finding['found']}")
    if 1 not in codes or 2 in codes:
        problems.append(f"exit codes {codes}: one at least is not ready, none is inconclusive")
    after = subprocess.run([arguments.program, "stage", inventory, "--runs", lab.folder / "runs"], timeout=300,
                           stdout=subprocess.PIPE, text=True)
    if after.returncode != 0 or "nothing to do" not in after.stdout:
        problems.append(f"stage after the two: exit {after.returncode}:\n{after.stdout}")
    return problems


def fill_once_launched(runs, gate):
    """Takes the last byte of the disk as soon as mpirun of a tier was started."""
    while gate.poll() is None and not list(runs.glob("*/mpirun-host.log")):
        time.sleep(0.005)
    with open(runs / "fill", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as full:
            return full.errno == errno.ENOSPC


def check_full_head(arguments, lab):
    runs = lab.folder / "full"
    runs.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", runs], check=True)
    try:
        gate = subprocess.Popen([arguments.program, "gate", lab.folder / "inventory.yaml", "--runs", runs], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        filled = fill_once_launched(runs, gate)
        said, log = gate.communicate(timeout=300)
    finally:
        subprocess.run(["umount", "--lazy", runs], check=True)
    print(said, log, sep="\n")
    problems = [] if filled and "No space left on device" in log else ["the disk did not fill up during the job"]
    if gate.returncode != 2:
        problems.append(f"exit code {gate.returncode}, expected 2")
    blames = re.findall(r"^  (?:fail|blocked) .*|\b(?:launch|ssh)\.[a-z_]+", said, re.M)
    return problems + [f"blamed: {cause}" for cause in blames]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    for name in ("--row", "--clean", "--interrupt", "--two", "--full-head"):
        parser.add_argument(name)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(rows()))
        return
    row = rows()[arguments.row] if arguments.row else {
        "up": f"--seed {arguments.clean or arguments.interrupt or arguments.two or arguments.full_head}", "break": "-", "exit": {0}, "findings": "-"}
    folder = new_folder()
    with Lab(folder, row["up"].split()) as lab:
        check = (arguments.interrupt and check_interrupts or arguments.two and check_two or arguments.full_head and check_full_head)
        if check:
            problems = check(arguments, lab)
        else:
            code, summary, problems = run_gate(arguments, lab, row["break"])
            problems += compare(lab, row, code, summary)
        if problems:
            show_launcher(lab)
    for problem in problems:
        print("not as expected:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
