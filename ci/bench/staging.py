#!/usr/bin/python3
"""Staging when nothing is to do, on 64 sshd's on loopback addresses, against the peers in the same run:

    ansible-playbook   a playbook of the same content (facts, two programs by checksum, a link), also a second run
    clush, parallel-ssh   running `true`, which is all that a login costs

    ninja -C build/dev programs && ci/bench/staging.py [--build build/dev] [--nodes 64] [--rounds 3] [--install]

Root only. Everything happens in namespaces of its own (network, mount, process): no interface, file or process of the machine
is touched, and all ends with this program. Every node has its own sshd, host key, home, /run and /opt/fabricgate. Each tool
works on all nodes at once. Ansible has pipelining and keeps its default ControlPersist, so its measured run need not log in
again; fabricgate, clush and parallel-ssh log in each time. Times are medians of rounds in turn; they are no evidence, ratios are.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PORT = 2022
PEERS = {"ansible-playbook": "ansible-core", "clush": "clustershell", "parallel-ssh": "pssh"}

SSHD = """Port {port}
ListenAddress {address}
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {work}/id.pub
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
PermitRootLogin yes
PrintMotd no
Subsystem sftp internal-sftp
"""

INVENTORY = """schema: 1
cluster: {{ name: bench, management_cidr: 127.0.0.0/8 }}
ssh: {{ user: root, port: {port}, key: {work}/id, known_hosts: {work}/known_hosts, window: {window} }}
classes:
  plain:
    gpus: 0
    emulated: true
    rails: [ {{ netdev: rail0, rate_gbps: 1, mtu: 1500, cidr: 172.16.0.0/16 }} ]
    manage: {{ packages: false, memlock: false, sysctl: false, modules: false, network: false }}
nodes:
  - {{ hosts: "n[001-{last:03}]", class: plain, address: 127.1.0.1 }}
"""

PLAYBOOK = """- hosts: all
  gather_facts: true
  tasks:
    - file: {{ path: /opt/fabricgate/peer, state: directory }}
    - copy: {{ src: {programs}/bootstrap/agent/fabricgate-agent, dest: /opt/fabricgate/peer/fabricgate-agent, mode: "0755" }}
    - copy: {{ src: {programs}/launch/fabricgate-rank, dest: /opt/fabricgate/peer/fabricgate-rank, mode: "0755" }}
    - file: {{ src: /opt/fabricgate/peer/fabricgate-agent, dest: /opt/fabricgate/peer/agent, state: link }}
"""

ANSIBLE = """[defaults]
inventory = {work}/ansible-hosts
forks = {nodes}
interpreter_python = /usr/bin/python3
[ssh_connection]
pipelining = True
"""


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL, **options)


class Cluster:
    """The nodes, their files below one folder."""

    def __init__(self, work, count, programs):
        self.work, self.count, self.programs = work, count, programs
        self.names = [f"n{i + 1:03}" for i in range(count)]
        self.addresses = [f"127.1.{(i + 1) // 256}.{(i + 1) % 256}" for i in range(count)]
        self.daemons = []

    def own_machine(self):
        """What this namespace must not share: homes, /run, accounts that sshd takes for locked."""
        run("ip", "link", "set", "lo", "up")
        for folder in ("/root", "/run", "/opt", "/var/tmp"):
            run("mount", "-t", "tmpfs", "tmpfs", folder)
        shadow = pathlib.Path("/etc/shadow").read_text().splitlines()
        (self.work / "shadow").write_text("".join(
            ("root:*:" + line.split(":", 2)[2] if line.startswith("root:") else line) + "\n" for line in shadow))
        hosts = "127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for a, n in zip(self.addresses, self.names))
        (self.work / "hosts").write_text(hosts)
        run("mount", "--bind", self.work / "shadow", "/etc/shadow")
        run("mount", "--bind", self.work / "hosts", "/etc/hosts")
        pathlib.Path("/run/sshd").mkdir()
        pathlib.Path("/opt/fabricgate").mkdir()

    def write_files(self):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.work / "id")
        known = ""
        for name, address in zip(self.names, self.addresses):
            folder = self.work / name
            for part in ("run/sshd", "opt", "home"):
                (folder / part).mkdir(parents=True)
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "host")
            key = " ".join((folder / "host.pub").read_text().split()[:2])
            known += f"[{address}]:{PORT},[{name}]:{PORT} {key}\n"
            (folder / "sshd_config").write_text(
                SSHD.format(port=PORT, address=address, folder=folder, work=self.work))
        values = dict(port=PORT, work=self.work, window=self.count, last=self.count, nodes=self.count,
                      programs=self.programs)
        (self.work / "known_hosts").write_text(known)
        (self.work / "inventory.yaml").write_text(INVENTORY.format(**values))
        (self.work / "playbook.yaml").write_text(PLAYBOOK.format(**values))
        (self.work / "ansible.cfg").write_text(ANSIBLE.format(**values))
        (self.work / "pssh-hosts").write_text("".join(f"{n}:{PORT}\n" for n in self.names))
        (self.work / "ansible-hosts").write_text("".join(
            f"{n} ansible_host={a} ansible_port={PORT}\n" for n, a in zip(self.names, self.addresses)))
        pathlib.Path("/root/.ssh").mkdir(mode=0o700)
        pathlib.Path("/root/.ssh/config").write_text(
            f"Host *\n  Port {PORT}\n  User root\n  IdentityFile {self.work}/id\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {self.work}/known_hosts\n  GlobalKnownHostsFile /dev/null\n  BatchMode yes\n")

    def start(self):
        script = ('hostname "$2" && mount --bind "$1/run" /run && mount --bind "$1/opt" /opt/fabricgate && mount --bind "$1/home" /root && '
                  'exec /usr/sbin/sshd -D -E "$1/log" -f "$1/sshd_config"')
        for name in self.names:
            self.daemons.append(subprocess.Popen(
                ["unshare", "--mount", "--uts", "sh", "-c", script, "node", str(self.work / name), name], stdin=subprocess.DEVNULL))
        deadline = time.monotonic() + 60
        for address in self.addresses:
            while subprocess.run(["ssh-keyscan", "-p", str(PORT), "-T", "2", address], capture_output=True).stdout == b"":
                if time.monotonic() > deadline:
                    raise SystemExit(f"sshd of {address} does not answer")
                time.sleep(0.05)

    def stop(self):
        for daemon in self.daemons:
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait()


def commands(cluster):
    """Tool: command line, environment, what a good run's output has."""
    work, plain = cluster.work, dict(os.environ)
    good = f"{cluster.count} unchanged\nnothing to do"
    return {
        "fabricgate stage": ([cluster.programs / "launch/fabricgate", "stage", work / "inventory.yaml", "--runs",
                              work / "runs"], plain, good),
        "clush true": (["clush", "-f", cluster.count, "-w", ",".join(cluster.names), "true"], plain, ""),
        "parallel-ssh true": (["parallel-ssh", "-p", cluster.count, "-t", "0", "-h", work / "pssh-hosts", "true"], plain,
                              "[SUCCESS]"),
        "ansible-playbook": (["ansible-playbook", work / "playbook.yaml"],
                             dict(plain, ANSIBLE_CONFIG=str(work / "ansible.cfg")), "changed=0"),
    }


def measure(tool, how):
    """Seconds and peak resident bytes of the tool's own process; its children (ssh clients) come on top."""
    words, environment, good = how
    with tempfile.TemporaryFile("w+") as said:
        began = time.monotonic()
        process = subprocess.Popen([str(word) for word in words], env=environment, stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if process.returncode != 0 or good not in text:
        raise SystemExit(f"{tool}: exit code {process.returncode}, expected 0 and '{good}':\n{text[-3000:]}")
    return took, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def bench(cluster, rounds):
    tools = commands(cluster)
    for tool in ("fabricgate stage", "ansible-playbook"):  # the run that has something to do
        words, environment, _ = tools[tool]
        measure(tool, (words, environment, ""))
    results = {tool: [] for tool in tools}
    for turn in range(rounds):
        for tool, how in tools.items():
            if tool != "ansible-playbook" or turn < 2:
                results[tool].append(measure(tool, how))
    return results


def report(results, count, rounds):
    seconds = {tool: statistics.median(each[0] for each in all_) for tool, all_ in results.items()}
    print(f"\n{count} nodes, {os.cpu_count()} cores (shared by the tool and all nodes), medians of {rounds} rounds in turn")
    for tool, all_ in results.items():
        low, high = min(each[0] for each in all_), max(each[0] for each in all_)
        print(f"  {tool:<18} {seconds[tool]:8.2f} s  ({low:.2f} to {high:.2f}), own CPU {all_[-1][2]:.2f} s, "
              f"own peak memory {max(each[1] for each in all_) / 1e6:.0f} MB")
    own = seconds["fabricgate stage"]
    fastest = min(("clush true", "parallel-ssh true"), key=seconds.get)
    print(f"ansible-playbook takes {seconds['ansible-playbook'] / own:.1f} times as long as fabricgate stage (goal 20)")
    print(f"fabricgate stage takes {own / seconds[fastest]:.2f} times as long as {fastest} (goal 1.0)")
    print(f"peak memory of fabricgate {max(each[1] for each in results['fabricgate stage']) / 1e6:.0f} MB (goal below 200)")


def refuse_without(install):
    missing = [package for program, package in PEERS.items() if not shutil.which(program)]
    if missing and install:
        run("apt-get", "install", "-y", "--no-install-recommends", *missing)
    elif missing:
        raise SystemExit(f"ci/bench/staging.py: not installed: {' '.join(missing)}; apt-get install them, or give --install")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/dev"))
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--install", action="store_true", help="install missing peers with apt-get")
    parser.add_argument("--shell", action="store_true", help="a shell beside the nodes instead of measuring")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("ci/bench/staging.py: makes namespaces: run it as root")
    if not arguments.inside:
        refuse_without(arguments.install)
        os.execvp("unshare", ["unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child",
                              "--mount-proc", "/usr/bin/python3", os.path.abspath(__file__), *sys.argv[1:], "--inside"])
    with tempfile.TemporaryDirectory(prefix="fabricgate-staging-") as folder:
        cluster = Cluster(pathlib.Path(folder), arguments.nodes, arguments.build.resolve())
        cluster.own_machine()
        cluster.write_files()
        try:
            cluster.start()
            if arguments.shell:
                print(f"inventory {folder}/inventory.yaml", flush=True)
                subprocess.run([os.environ.get("SHELL", "/bin/bash")], cwd=folder)
            else:
                report(bench(cluster, arguments.rounds), arguments.nodes, arguments.rounds)
        finally:
            cluster.stop()


main()
