#!/usr/bin/env python3
"""Runs that a person starts with mpirun, on a lab: the gate inside the ranks, accept, and a shared stage.

    by_hand.py --program FABRICGATE --case CASE     one case: lab up, programs onto the nodes, runs, compare, lab down
    by_hand.py --list                               the cases

The programs are installed on every node and nothing else is shared; mpirun runs on this machine, with the hostfile that
`fabricgate inventory hostfile` writes. Exit 0: as expected; 1: not.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run import CLOSING, LAB, Lab, compare, new_folder  # noqa: E402

PROGRAM, INVENTORY, RUNS = "/usr/local/bin/fabricgate", "/etc/fabricgate/cluster.yaml", "/var/tmp/runs"
LIBEXEC = "/usr/local/libexec/fabricgate"


class Cluster:
    """A lab with fabricgate installed on its nodes."""

    def __init__(self, lab, program):
        self.lab, self.program = lab, program
        self.inventory = (lab.folder / "inventory.yaml").read_text()
        self.problems, self.log, self.said = [], [], ""
        image = lab.folder / "image"
        for source, target in ((program, PROGRAM), (program.parent / "fabricgate-rank", f"{LIBEXEC}/fabricgate-rank"),
                               (program.parent.parent / "bootstrap/agent/fabricgate-agent", f"{LIBEXEC}/fabricgate-agent")):
            (image / target[1:]).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["strip", "-o", image / target[1:], source], check=True)
        archive = subprocess.run(["tar", "-C", image, "-c", "usr"], capture_output=True, check=True).stdout
        for node in lab.nodes:
            self.on(node, "tar", "-C", "/", "--no-same-owner", "--no-overwrite-dir", "-x", input=archive)
        self.declare(self.inventory)

    def on(self, node, *command, **options):
        return subprocess.run([LAB / "run", node, *command], env=self.lab.environment, check=True, capture_output=True,
                              **options).stdout

    def declare(self, text, node=0):
        """One node alone gets the inventory, the others have it from there."""
        self.on(self.lab.nodes[node], "sh", "-c", f"mkdir -p /etc/fabricgate && cat >{INVENTORY}", input=text.encode())

    def mpirun(self, *words, nodes=None, during=None):
        """Exit code of `mpirun … fabricgate WORDS`. `during` is called once with each line that rank 0 logs."""
        hosts = self.lab.folder / "hostfile"
        text = subprocess.run([self.program, "inventory", "hostfile", self.lab.folder / "inventory.yaml"], check=True,
                              capture_output=True, text=True).stdout
        lines = [l for l in text.splitlines() if nodes is None or l.split()[0] in nodes]
        hosts.write_text("\n".join(lines) + "\n")
        command = ["mpirun", "--allow-run-as-root", "--hostfile", hosts, "-N", "1", "--mca", "plm_rsh_args",
                   f"-F {self.lab.folder}/ssh_config", PROGRAM, *words, "--runs", RUNS]
        output = self.lab.folder / "stdout"
        with output.open("w") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True, errors="replace")
        self.log = []
        for line in process.stderr:
            self.log.append(line)
            print(line, end="", file=sys.stderr)
            if during:
                during(line)
        code = process.wait(timeout=60)
        self.said = output.read_text()
        print(self.said, end="")
        return code

    def summary(self):
        return json.loads(self.on(self.lab.nodes[0], "cat", f"{RUNS}/latest/summary.json"))

    def expect(self, what, codes, findings, *words, **options):
        """One run against the exact set of findings that close the gate."""
        code = self.mpirun(*words, **options)
        print(f"{what}: exit {code}")
        row = {"exit": codes, "findings": findings}
        self.problems += [f"{what}: {p}" for p in compare(self.lab, row, code, self.summary())]

    def check(self, what, holds):
        if not holds:
            self.problems.append(what)


def ready(c):
    c.expect("gate", {0}, "-", "gate", INVENTORY)
    stage = c.on(c.lab.nodes[0], "cat", f"{RUNS}/latest/stage.txt").decode()
    c.check("the first run stages every node", stage.endswith(f"{len(c.lab.nodes)} changed\n"))
    journals = c.on(c.lab.nodes[0], "ls", f"{RUNS}/latest/journal").decode().split()
    c.check("a journal of every node is in the run folder", journals == sorted(f"{n}.jsonl" for n in c.lab.nodes))
    records = c.on(c.lab.nodes[0], "cat", f"{RUNS}/latest/records.jsonl").decode().splitlines()
    staged = [r for r in map(json.loads, records) if r["check"] == "stage.node"]
    c.check("a stage record of every node says what was done", sorted(r["hosts"][0] for r in staged) == sorted(c.lab.nodes)
            and all(r["sample"]["state"] == "ready" and r["sample"]["changed"] for r in staged))
    c.on(c.lab.nodes[0], "rm", INVENTORY)
    c.declare(c.inventory, node=1)  # not where rank 0 is
    c.expect("accept", {0}, "-", "accept", INVENTORY)
    c.check("accept names its run folder with the node", f"run folder {c.lab.nodes[0]}:{RUNS}/" in c.said.splitlines()[-1])


def kubernetes(c):
    c.declare(c.inventory + "kubernetes:\n  context: admin\n")
    code = c.mpirun("gate", INVENTORY)
    summary = c.summary()
    closing = {f["cause"] for f in summary["findings"] if f["verdict"] in CLOSING}
    c.check(f"exit code {code} and {closing} with a kubernetes section", code in (1, 2) and closing == {"addons.not_run"})


def rail_half(c):
    c.lab.call("break", c.lab.nodes[1], "rail-half", "0")
    c.expect("gate", {1}, "pair.rail_slow host={1} rail=rail0", "gate", INVENTORY)


def agent_missing(c):
    c.on(c.lab.nodes[1], "rm", f"{LIBEXEC}/fabricgate-agent")
    c.expect("gate", {2}, "stage.agent_failed host={1}", "gate", INVENTORY)


def agent_differs(c):
    c.on(c.lab.nodes[1], "sh", "-c", f"echo >> {LIBEXEC}/fabricgate-agent")
    c.expect("gate", {1}, "launch.program_differs host={1}", "gate", INVENTORY)


def rank_absent(c):
    c.expect("gate", {1, 2}, "gate.not_measured host={2}", "gate", INVENTORY, nodes=c.lab.nodes[:2])


def inventory_stale(c):
    """Rank 0's copy lacks the last node, which has a rank; the others have the whole one."""
    c.declare(re.sub(rf"^  - hosts: {c.lab.nodes[-1]}\n(    .*\n)+", "", c.inventory, flags=re.M))
    c.declare(c.inventory, node=1)
    code = c.mpirun("gate", INVENTORY)
    closing = sorted(f["cause"] for f in c.summary()["findings"] if f["verdict"] in CLOSING)
    c.check(f"exit code {code} and {closing} with an old inventory", code == 1 and closing == ["launch.inventory_differs", "launch.placement"])


def signalled(c, fault, codes):
    """The fault hits the second node as soon as the pair tier has begun."""
    hit = []

    def during(line):
        if line.startswith("pair ") and not hit:
            hit.append(subprocess.Popen([LAB / "break", c.lab.nodes[1], fault, "10", "fabricgate gate"], env=c.lab.environment))

    code = c.mpirun("gate", INVENTORY, during=during)
    c.check(f"exit code {code}, expected one of {codes}", code in codes)
    c.check("the fault found its process", hit and hit[0].wait(timeout=30) == 0)
    return c.summary()


def rank_stopped(c):
    summary = signalled(c, "rank-stop", {1})
    named = [f for n in summary["nodes"] for f in n["findings"] if f["cause"] == "launch.rank_silent"]
    c.check("the stopped rank's node is named", {f["subject"]["host"] for f in named} == {c.lab.nodes[1]})
    staged = [n["tiers"].get("stage") for n in summary["nodes"]]
    c.check("what was measured before is kept", staged == ["pass"] * len(staged))


def rank_killed(c):
    """Open MPI ends every rank, names the one that died and returns 128 + its signal, whatever rank 0 says."""
    summary = signalled(c, "rank-kill", {128 + 9})
    c.check("mpirun names the node", any(c.lab.nodes[1] in line and "signal 9" in line for line in c.log))
    c.check(f"the verdict is {summary['text']}", summary["text"] == "INCONCLUSIVE" and summary["exit_code"] == 2)
    staged = [n["tiers"].get("stage") for n in summary["nodes"]]
    c.check("what was measured before is kept", staged == ["pass"] * len(staged))


def busy(c):
    c.declare(c.inventory + f"hooks:\n  busy: test {{node}} != {c.lab.nodes[1]}\n")
    c.expect("gate", {1}, "stage.node_busy host={1}", "gate", INVENTORY)
    c.check("a busy node is not touched", not c.on(c.lab.nodes[1], "ls", "/opt/fabricgate"))
    c.expect("gate --allow-busy", {0}, "-", "gate", INVENTORY, "--allow-busy")
    c.expect("accept", {1}, "stage.node_busy host={1}", "accept", INVENTORY)


def in_use(c):
    """Another run has a node between two of its jobs."""
    boot = c.on(c.lab.nodes[1], "cat", "/proc/sys/kernel/random/boot_id").decode().strip()
    other = {"boot_id": boot, "run": "20260101-000000-abcdef", "head": "head2", "head_process": "", "since_unix_s": 1767225600,
             "lease_s": 600}
    c.on(c.lab.nodes[1], "sh", "-c", "mkdir -p /var/tmp/fabricgate && cat >/var/tmp/fabricgate/in-use", input=json.dumps(other).encode())
    c.expect("gate --allow-busy", {1}, "stage.node_busy host={1}", "gate", INVENTORY, "--allow-busy")
    c.check("a node of another run is not touched", not c.on(c.lab.nodes[1], "ls", "/opt/fabricgate"))
    c.expect("accept", {1}, "stage.node_busy host={1}", "accept", INVENTORY)
    found = [f["found"] for node in c.summary()["nodes"] for f in node["findings"] if f["cause"] == "stage.node_busy"]
    c.check(f"the other run and its head are named: {found}", found and all(other["run"] in f and "head2" in f for f in found))
    c.on(c.lab.nodes[1], "truncate", "-s", "0", "/var/tmp/fabricgate/in-use")
    c.expect("gate", {0}, "-", "gate", INVENTORY)


def stage(c):
    def share(expected, words):
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", c.program, "stage",
                               c.lab.folder / "inventory.yaml", "--runs", c.lab.folder / "runs"], capture_output=True, text=True,
                              timeout=200)
        print(done.stdout)
        c.check(f"stage under mpirun -n 2: exit {done.returncode}, expected {expected}: {done.stderr}", done.returncode == expected)
        for word in words:
            c.check(f"'{word}' is not in what it says", re.search(word, done.stdout))

    share(0, [f"{len(c.lab.nodes)} changed"])
    share(0, [f"{len(c.lab.nodes)} unchanged", "nothing to do"])
    c.lab.call("break", c.lab.nodes[1], "sshd-stopped")
    share(1, ["1 unreachable", f"{len(c.lab.nodes) - 1} unchanged", re.escape(c.lab.nodes[1]) + ": unreachable"])


CASES = {"ready": (ready, "3 --seed 311"), "kubernetes": (kubernetes, "2 --seed 312 --staged"), "rail_half": (rail_half, "3 --seed 313"),
         "agent_missing": (agent_missing, "3 --seed 314"), "agent_differs": (agent_differs, "3 --seed 320"),
         "rank_absent": (rank_absent, "3 --seed 315"), "inventory_stale": (inventory_stale, "3 --seed 322"),
         "rank_stopped": (rank_stopped, "3 --seed 316"), "rank_killed": (rank_killed, "3 --seed 319"), "busy": (busy, "3 --seed 317"),
         "in_use": (in_use, "3 --seed 321"), "stage": (stage, "3 --seed 318")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list or not arguments.case or not arguments.program:
        print("\n".join(CASES))
        return
    test, up = CASES[arguments.case]
    folder = new_folder()
    with Lab(folder, up.split()) as lab:
        cluster = Cluster(lab, arguments.program.resolve())
        test(cluster)
    for problem in cluster.problems:
        print("not as expected:", problem)
    sys.exit(1 if cluster.problems else 0)


main()
