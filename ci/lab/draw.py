#!/usr/bin/env python3
"""Draws one lab from a seed and writes what describes it.

    draw.py LAB CLAIMS SEED [--nodes N] [--leaves 1|2] [--memlock unlimited|KiB]

Everything random comes from SEED, so the same seed gives the same lab as long as the names and networks it asks for are
free; a taken one is drawn again. Writes plan.sh (for the scripts), inventory.yaml, hosts and ssh_config into LAB, and
claims the lab's id by creating CLAIMS/<id>. Runs under the lock of `up`.
"""
import argparse
import glob
import ipaddress
import os
import pathlib
import random
import shlex
import subprocess

RATES_MBIT = [100, 150, 200]
INTERFACES = [  # (management, possible rails)
    ("eno1", ["ens3f0np0", "ens3f1np1", "ens5f0np0", "ens5f1np1"]),
    ("eth0", ["eth1", "eth2", "eth3", "eth4"]),
    ("enp1s0", ["ibp24s0", "ibp65s0", "ibp152s0", "ibp193s0"]),
    ("eno8303", ["enp26s0f0np0", "enp60s0f1np1", "enp188s0np0", "enp9s0np0"]),
    ("mgmt0", ["rdma0", "rdma1", "rdma4", "rdma7"]),
]
WORDS = ("noether meitner galois erdos cauchy hypatia agnesi lagrange riemann sophie banach hilbert cantor goedel ampere "
         "henry-7 ohm-2 weber-3 siemens-4 franklin").split()


def host_names(rng, count):
    start = rng.randint(1, 60)
    style = rng.randrange(6)
    if style == 0:
        return [f"gpu{n:03d}" for n in range(start, start + count)]
    if style == 1:
        word = rng.choice(["kite", "heron", "basalt", "quill"])
        return [f"{word}-{n:02d}" for n in sorted(rng.sample(range(1, 90), count))]
    if style == 2:
        rack = rng.randint(1, 9)
        return [f"r{rack + n // 3}n{n % 3 + 1}" for n in range(count)]
    if style == 3:
        return [f"dgx-a{rng.randint(1, 4)}-{n}" for n in range(start, start + count)]
    if style == 4:
        return rng.sample(WORDS, count)
    return [f"c{n:04d}-hpc" for n in sorted(rng.sample(range(1, 2000), count))]


def taken_networks():
    """Networks this machine already routes or holds an address in."""
    taken = []
    for command in (["ip", "-4", "route", "show", "table", "all"], ["ip", "-4", "-o", "addr"]):
        for word in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split():
            try:
                network = ipaddress.ip_network(word, strict=False)
            except ValueError:
                continue
            if network.version == 4 and network.prefixlen > 0:
                taken.append(network)
    return taken


def draw_network(rng, taken):
    """A free RFC 1918 /24; it is added to `taken`."""
    while True:
        text = rng.choice([
            f"10.{rng.randint(1, 254)}.{rng.randint(0, 254)}.0/24",
            f"172.{rng.randint(16, 31)}.{rng.randint(0, 254)}.0/24",
            f"192.168.{rng.randint(2, 254)}.0/24",
        ])
        network = ipaddress.ip_network(text)
        if not any(network.overlaps(other) for other in taken):
            taken.append(network)
            return network


def claim_id(rng, claims, lab):
    """Four hex digits that no interface, network namespace or other lab uses."""
    while True:
        name = f"{rng.randrange(1 << 16):04x}"
        used = glob.glob(f"/sys/class/net/fg{name}*") + glob.glob(f"/run/netns/fg{name}*")
        if used or (claims / name).exists():
            continue
        (claims / name / "pids").mkdir(parents=True)
        (claims / name / "boot").write_text(pathlib.Path("/proc/sys/kernel/random/boot_id").read_text())
        (claims / name / "lab").write_text(f"{lab}\n")
        return name


def draw(seed, nodes, leaves):
    """The lab as a dictionary; each topic has its own generator, so that one option does not shift the others."""
    rng = {topic: random.Random(f"{seed}/{topic}") for topic in ("nodes", "names", "interfaces", "networks", "rails")}
    count = nodes or rng["nodes"].randint(3, 6)
    rail_count = rng["rails"].choice([2, 2, 2, 3])
    management_device, devices = rng["interfaces"].choice(INTERFACES)
    rails = rng["interfaces"].sample(devices, rail_count)
    while rails == sorted(rails):  # the rail index must not follow the order of names
        rng["interfaces"].shuffle(rails)
    taken = taken_networks()
    management = draw_network(rng["networks"], taken)
    networks = [draw_network(rng["networks"], taken) for _ in rails]
    first, head = rng["networks"].choice([(11, 254), (101, 1), (1, 250)])
    addresses = [[str(network[i + 1]) for i in range(count)] for network in networks]
    moved = None
    if rng["networks"].random() < 1 / 3:  # one node whose address on one rail is given, not counted
        moved = (rng["networks"].randrange(count), rng["networks"].randrange(rail_count))
        addresses[moved[1]][moved[0]] = str(networks[moved[1]][rng["networks"].randint(100, 240)])
    return {
        "seed": seed,
        "count": count,
        "cluster": rng["names"].choice(["atlas", "tarn", "ridge", "cove"]) + f"-{rng['names'].randint(1, 99)}",
        "class": rng["names"].choice(["h100x8", "worker", "b200", "trainer"]),
        "names": host_names(rng["names"], count),
        "port": rng["networks"].choice([22, 22, 2222]),
        "mpi_ports": 20000 + 1000 * rng["networks"].randrange(10),
        "management": management,
        "management_device": management_device,
        "management_addresses": [str(management[first + i]) for i in range(count)],
        "head": str(management[head]),
        "rails": rails,
        "rates": [rng["rails"].choice(RATES_MBIT) for _ in rails],
        "mtu": rng["rails"].choice([9000, 9000, 4200]),
        "networks": networks,
        "addresses": addresses,
        "moved": moved,
        "leaves": leaves,
        "leaf": [i * leaves // count for i in range(count)],
    }


def shell_plan(lab, name):
    """plan.sh: plain assignments and arrays; RAIL_ADDRESS is indexed rail * count + node."""
    def array(key, values):
        return f"{key}=({' '.join(shlex.quote(str(value)) for value in values)})"
    return "\n".join([
        f"ID={name}", f"SEED={lab['seed']}", f"COUNT={lab['count']}", f"PORT={lab['port']}", f"HEAD={lab['head']}",
        f"LAUNCHER_PORTS={lab['mpi_ports']}-{lab['mpi_ports'] + 999}",
        f"LEAVES={lab['leaves']}", f"MTU={lab['mtu']}", f"MANAGEMENT={lab['management']}",
        f"MEMLOCK={lab['memlock']}", f"MANAGEMENT_DEVICE={lab['management_device']}", array("NAMES", lab["names"]),
        array("ADDRESSES", lab["management_addresses"]), array("RAILS", lab["rails"]), array("RATES", lab["rates"]),
        array("LEAF", lab["leaf"]), array("RAIL_ADDRESS", sum(lab["addresses"], [])),
    ]) + "\n"


def inventory(lab, folder):
    rails = "".join(
        f"      - netdev: {device}\n        link_layer: ethernet\n        rate_gbps: {rate / 1000}\n"
        f"        mtu: {lab['mtu']}\n        cidr: {network}\n"
        for device, rate, network in zip(lab["rails"], lab["rates"], lab["networks"]))
    nodes = ""
    for i, name in enumerate(lab["names"]):
        nodes += f"  - hosts: {name}\n    class: {lab['class']}\n    address: {lab['management_addresses'][i]}\n"
        overrides = {rail: [] for rail in range(len(lab["rails"]))}
        if lab["leaves"] > 1:
            for rail, values in overrides.items():
                values.append(f"leaf: leaf-{rail}{'ab'[lab['leaf'][i]]}")
        if lab["moved"] and lab["moved"][0] == i:
            overrides[lab["moved"][1]].append(f"address: {lab['addresses'][lab['moved'][1]][i]}")
        lines = [f"        {rail}: {{ {', '.join(values)} }}\n" for rail, values in overrides.items() if values]
        if lines:
            nodes += "    overrides:\n      rails:\n" + "".join(lines)
    memlock = lab["memlock"] if lab["memlock"] == "unlimited" else int(lab["memlock"]) * 1024
    return f"""# The built-in lab, seed {lab['seed']}: nodes are namespaces of this machine, rails are shaped veth pairs. Written by ci/lab/up.
schema: 1
cluster:
  name: {lab['cluster']}
  management_cidr: {lab['management']}
ssh:
  user: root
  port: {lab['port']}
  key: {folder}/id_ed25519
  known_hosts: {folder}/known_hosts
launcher:
  ports: {lab['mpi_ports']}-{lab['mpi_ports'] + 999}
  install_dir: /opt/fabricgate
  spool_dir: /var/tmp/fabricgate
classes:
  {lab['class']}:
    emulated: true
    gpus: 0
    slots: 1
    rails:
{rails}    memlock: {memlock}
    driver:
      owner: none
    sriov:
      owner: none
    sysctl:
      net.ipv4.tcp_slow_start_after_idle: "0"
    manage:
      packages: false
      memlock: true
      sysctl: true
      modules: false
      network: true
nodes:
{nodes}suite: default
"""


def ssh_config(lab, folder):
    common = (f"  User root\n  Port {lab['port']}\n  IdentityFile {folder}/id_ed25519\n  IdentitiesOnly yes\n  BatchMode yes\n"
              f"  UserKnownHostsFile {folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
              "  StrictHostKeyChecking yes\n  ConnectTimeout 10\n")
    hosts = "".join(f"Host {name} {address}\n  HostName {address}\n"
                    for name, address in zip(lab["names"], lab["management_addresses"]))
    return hosts + "Host *\n" + common


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lab", type=pathlib.Path)
    parser.add_argument("claims", type=pathlib.Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--leaves", type=int, default=1)
    parser.add_argument("--memlock", default="unlimited")
    arguments = parser.parse_args()
    folder = arguments.lab
    lab = draw(arguments.seed, arguments.nodes, arguments.leaves)
    lab["memlock"] = arguments.memlock
    (folder / "inventory.yaml").write_text(inventory(lab, folder))
    (folder / "ssh_config").write_text(ssh_config(lab, folder))
    (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(
        f"{address} {name}\n" for name, address in zip(lab["names"], lab["management_addresses"])))
    (folder / "seed").write_text(f"{lab['seed']}\n")
    name = claim_id(random.Random(f"{arguments.seed}/id"), arguments.claims, folder)
    (folder / "plan.sh").write_text(shell_plan(lab, name))


if __name__ == "__main__":
    os.umask(0o022)
    main()
