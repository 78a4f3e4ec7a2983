#!/usr/bin/env python3
"""Draws one VM lab from a seed, as ../draw.py does for namespaces, and writes what describes it.

    draw_vm.py LAB CLAIMS SEED [--nodes N] [--rdma]

Writes plan.sh, inventory.yaml, hosts and ssh_config into LAB and claims the lab's id. Runs under the lock of `up`.
"""
import argparse
import os
import pathlib
import random
import sys

sys.dont_write_bytecode = True  # no __pycache__ in the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import draw as lab  # noqa: E402

RAILS = 2
RATES_MBIT = [16, 20, 24]  # both rails in both directions at once take a third of what an emulated machine carries beside others


def draw(seed, nodes):
    machines = lab.draw(seed, nodes, 1)
    for key in ("rails", "networks", "addresses"):
        machines[key] = machines[key][:RAILS]
    rng = random.Random(f"{seed}/vm")
    machines["rates"] = [rng.choice(RATES_MBIT) for _ in machines["rails"]]
    machines["memlock"] = "unlimited"
    return machines


def inventory(machines, folder, rdma):
    def device(rail):
        return f"        device: rxe{rail}\n" if rdma else ""

    rails = "".join(
        f"      - netdev: {netdev}\n{device(r)}        pci: \"0000:{r + 1:02x}:00.0\"\n        link_layer: ethernet\n"
        f"        rate_gbps: {machines['rates'][r] / 1000}\n        mtu: {machines['mtu']}\n        cidr: {machines['networks'][r]}\n"
        for r, netdev in enumerate(machines["rails"]))
    nodes = ""
    for i, name in enumerate(machines["names"]):
        nodes += f"  - hosts: {name}\n    class: {machines['class']}\n    address: {machines['management_addresses'][i]}\n"
        if machines["moved"] and machines["moved"][0] == i and machines["moved"][1] < RAILS:
            rail = machines["moved"][1]
            nodes += f"    overrides:\n      rails:\n        {rail}: {{ address: {machines['addresses'][rail][i]} }}\n"
    return f"""# The VM lab, seed {machines['seed']}: nodes are virtual machines of this one, rails are igb adapters. Written by ci/lab/vm/up.
schema: 1
cluster:
  name: {machines['cluster']}
  management_cidr: {machines['management']}
ssh:
  user: root
  port: {machines['port']}
  key: {folder}/id_ed25519
  known_hosts: {folder}/known_hosts
launcher:
  ports: {machines['mpi_ports']}-{machines['mpi_ports'] + 999}
  install_dir: /opt/fabricgate
  spool_dir: /var/tmp/fabricgate
classes:
  {machines['class']}:
    emulated: true
    gpus: 0
    slots: 1
    rails:
{rails}    memlock: unlimited
    driver:
      owner: none
    sriov:
      owner: none
    sysctl:
      net.ipv4.tcp_slow_start_after_idle: "0"
    modules: [rdma_rxe]
nodes:
{nodes}suite: default
"""


def ssh_config(machines, folder, sockets):
    return lab.ssh_config(machines, folder) + (
        f"  ControlMaster auto\n  ControlPath {sockets}/%h\n  ControlPersist 120\n"
        "  ServerAliveInterval 5\n  ServerAliveCountMax 6\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lab", type=pathlib.Path)
    parser.add_argument("claims", type=pathlib.Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--rdma", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.lab
    machines = draw(arguments.seed, arguments.nodes)
    (folder / "inventory.yaml").write_text(inventory(machines, folder, arguments.rdma))
    (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(
        f"{address} {name}\n" for name, address in zip(machines["names"], machines["management_addresses"])))
    (folder / "seed").write_text(f"{machines['seed']}\n")
    name = lab.claim_id(random.Random(f"{arguments.seed}/id"), arguments.claims, folder)
    (folder / "ssh_config").write_text(ssh_config(machines, folder, arguments.claims / name / "ssh"))
    (folder / "plan.sh").write_text(lab.shell_plan(machines, name))


if __name__ == "__main__":
    os.umask(0o022)
    main()
