#!/usr/bin/env python3
"""A newcomer's inventory on a lab: it has cluster, ssh and nodes; `inventory learn` writes the classes that are appended to it.

    learn.py --program FABRICGATE --seed SEED

Exit 0: what was learnt is good and has the lab's rails; 1: not.
"""
import argparse
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run import Lab, new_folder  # noqa: E402


def without_classes(text):
    text = re.sub(r"^classes:\n(?:[ #].*\n)*", "", text, flags=re.M)
    text = re.sub(r"^    overrides:\n(?:      .*\n)*", "", text, flags=re.M)
    return re.sub(r"^    class: .*$", "    class: learnt", text, flags=re.M)


def netdevs(text):
    return set(re.findall(r"netdev: (\S+)", text))


def learn(program, lab):
    """Problems found."""
    whole = (lab.folder / "inventory.yaml").read_text()
    path = lab.folder / "newcomer.yaml"
    path.write_text(without_classes(whole))

    def inventory(command, *words):
        return subprocess.run([program, "inventory", command, path, *words], timeout=120, capture_output=True, text=True)

    problems = []
    if inventory("check").returncode != 64:
        problems.append("an inventory without classes was called good")
    learnt = inventory("learn", *lab.nodes, "--name", "learnt")
    print(learnt.stdout)
    if learnt.returncode != 0:
        problems.append(f"learn: exit {learnt.returncode}: {learnt.stderr}")
    path.write_text(path.read_text() + learnt.stdout)
    check = inventory("check")
    if check.returncode != 0:
        problems.append(f"check of what was learnt: exit {check.returncode}: {check.stderr}")
    declared = netdevs(whole[:whole.index("nodes:")])
    if netdevs(learnt.stdout) != declared:
        problems.append(f"rails {declared} declared, {netdevs(learnt.stdout)} learnt")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--seed", required=True)
    arguments = parser.parse_args()
    folder = new_folder()
    with Lab(folder, ["--seed", arguments.seed, "--staged"]) as lab:
        problems = learn(arguments.program, lab)
    for problem in problems:
        print("not as expected:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
