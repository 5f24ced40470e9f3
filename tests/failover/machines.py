"""Machines on one machine: each has its own network address, processes, /etc, /run and data, so that every file and command stands as on
real ones. The machines are namespaces of Linux, below one of the script's own: all of them end with it, and nothing else sees them."""

import os
import shutil
import signal
import subprocess
import sys
import time

# As on a fresh system.
PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
# What a machine has of its own, beside its processes and its network.
OWN = ["/etc", "/run", "/var/lib/etcd", "/var/lib/postgresql", "/var/lib/haproxy", "/var/log", "/root"]
# What all have: programs, and the images, which would be in a bucket.
SHARED = ["/opt", "/srv"]


def sh(*command, **options):
    """Runs a program that has to succeed, and returns what it prints."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def wait(what, condition, seconds=60, pause=0.2):
    ends = time.time() + seconds
    while time.time() < ends:
        try:
            if value := condition():
                return value
        except OSError:
            pass
        time.sleep(pause)
    sys.exit(f"not within {seconds} s: {what}")


def in_own_namespaces(folder):
    """Runs this program once more where it may make machines, and returns its exit code. All machines end with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    enter = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    return subprocess.run([*enter, sys.executable, *sys.argv], env=os.environ | {"FAILOVER_FOLDER": folder}).returncode


def make_network():
    """The switch of all machines; the clients are at it too."""
    for command in ("link set lo up", "link add switch address 02:00:00:00:00:01 type bridge", "address add 10.0.0.1/24 dev switch", "link set switch up"):
        sh("ip", *command.split())


class Machine:
    """A machine, switched on."""

    def __init__(self, name, address, folder):
        self.name, self.address, self.folder = name, address, folder / name
        for path in OWN:
            own = self.folder / path.strip("/")
            own.mkdir(parents=True)
            if path in ("/etc", "/var/lib/haproxy"):
                shutil.copytree(path, own, symlinks=True, dirs_exist_ok=True, ignore_dangling_symlinks=True)
        for path in ("var/lib/etcd", "var/lib/postgresql"):
            shutil.chown(self.folder / path, path.rsplit("/", 1)[1].replace("postgresql", "postgres"))
        for path in SHARED:
            (self.folder.parent / path.strip("/")).mkdir(exist_ok=True)
        self.on()

    def on(self):
        """Starts the machine, with the disk that it had. Nothing runs on it yet."""
        disk = {path: self.folder / path.strip("/") for path in OWN} | {path: self.folder.parent / path.strip("/") for path in SHARED}
        binds = "\n".join(f"mount --bind {source} {path}" for path, source in disk.items())
        script = f"""set -e
            {binds}
            mount -t tmpfs tmpfs /tmp
            rm -rf /run/*; install -d -o postgres /run/postgresql
            hostname {self.name}
            ip link set lo up
            echo started
            # Orphans end without a trace, as with any init.
            exec env --ignore-signal=CHLD sleep infinity"""
        self.init = subprocess.Popen(
            ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--mount-proc", "--kill-child", "bash", "-c", script],
            stdout=subprocess.PIPE, text=True)
        assert self.init.stdout.readline() == "started\n", f"{self.name} does not start"
        self.pid = int(sh("pgrep", "--parent", str(self.init.pid)))
        port = f"p-{self.name}"
        sh("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(self.pid))
        sh("ip", "link", "set", port, "master", "switch", "up")
        for command in (f"address add {self.address}/24 dev eth0", "link set eth0 up"):
            sh("nsenter", f"--target={self.pid}", "--net", "ip", *command.split())
        self.shell = None

    def off(self):
        """Power off: nothing is closed, and nothing answers any more."""
        sh("ip", "link", "del", f"p-{self.name}")
        self.init.kill()
        self.init.wait()
        # An orphan of this process, which is the first one in its namespace.
        os.waitpid(self.pid, 0)
        self.shell = None

    def inside(self, *command):
        enter = ["nsenter", f"--target={self.pid}", "--net", "--mount", "--pid", "--uts", "--wdns=/root"]
        return ["env", "-i", "HOME=/root", f"PATH=/opt/bin:{PATH}", *enter, *command]

    def run(self, commands, may_fail=False):
        """Runs commands in the shell of the machine, as somebody who copies them from the page, and returns what they print."""
        if self.shell is None:
            self.shell = subprocess.Popen(self.inside("bash"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.run("set -euo pipefail")
        before, after = ("set +e", "code=$?; set -e") if may_fail else ("", "code=0")
        print(f"{before}\n{commands}\n{after}; echo; echo END $code", file=self.shell.stdin, flush=True)
        lines = []
        for line in self.shell.stdout:
            if line.startswith("END "):
                output = "".join(lines)[:-1]
                return (output, int(line[4:])) if may_fail else output
            lines.append(line)
        sys.exit(f"{self.name}: these commands fail:\n{commands}\nwith:\n{''.join(lines)}")

    def start(self, commands, log):
        """Starts commands that do not end."""
        return subprocess.Popen(self.inside("bash", "-c", commands), stdin=subprocess.DEVNULL, stdout=open(log, "a"), stderr=subprocess.STDOUT)

    def signal_all(self, signal):
        """Sends a signal to all processes of the machine."""
        for pid in sh("pgrep", "--ns", str(self.pid), "--nslist", "pid").split():
            os.kill(int(pid), signal)
