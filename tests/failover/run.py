#!/usr/bin/env python3
"""Runs docs/operations/failover.md word by word: copies its files and commands to five machines, lets them fail while clients write, and
compares what happens with what the page says.

    tests/failover/run.py AD_SERVER [SCENARIO…]

As root on Debian 12 with PostgreSQL 15; installs etcd and HAProxy from Debian, and Patroni from PyPI in a temporary folder. It takes a
quarter of an hour.
UPDATE_SNAPSHOTS=1 writes the output of commands to the page.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

# It runs as root, in a folder of somebody else.
sys.dont_write_bytecode = True

import scenarios
from load import Api
from machines import PATH, Machine, in_own_namespaces, make_network, sh, wait
from page import Page

PAGE = "operations/failover.md"
DATABASES = {"db-1": "10.0.0.11", "db-2": "10.0.0.12", "db-3": "10.0.0.13"}
SERVICES = {"app-1": "10.0.0.21", "app-2": "10.0.0.22"}


def install(page, folder):
    """What machines without a network cannot do: the packages, once for all of them."""
    for block in page.blocks:
        for line in block.text.splitlines():
            if line.startswith("apt-get install"):
                packages = [word for word in line.split()[2:] if not word.startswith("-")]
                missing = [it for it in packages if subprocess.run(["dpkg-query", "--show", it], capture_output=True).returncode]
                if missing:
                    sh("apt-get", "install", "--yes", "--no-install-recommends", *missing)
            elif "/opt/patroni/bin/pip install" in line or line.startswith("python3 -m venv"):
                (folder / "opt").mkdir(exist_ok=True)
                sh("unshare", "--mount", "bash", "-ec", f"mount --bind {folder}/opt /opt\n{line}", env={"PATH": PATH, "HOME": str(folder)})


class Cluster:
    """The machines of the page, as its commands have made them."""

    def __init__(self, page, folder):
        self.page = page
        self.machines = {name: Machine(name, address, folder) for name, address in (DATABASES | SERVICES).items()}
        self.databases = [self.machines[name] for name in DATABASES]
        self.services = [self.machines[name] for name in SERVICES]
        self.logs = {it.name: folder / f"{it.name}.log" for it in self.services}
        self.variables = next(block.text for block in page.blocks if block.text.startswith("NAME="))
        self.processes = {}

    def __getitem__(self, name):
        return self.machines[name]

    def set_up(self):
        """Runs the blocks of the page that name machines."""
        settings = [block.text for block in Page("operations.md").blocks if "ads.env" in block.text]
        for machine in self.services:
            # The file is made once, and copied.
            if machine is self.services[0]:
                machine.run(settings[0])
            else:
                shutil.copy(self.services[0].folder / "root/ads.env", machine.folder / "root/ads.env")
            machine.run(settings[1])
        for block in self.page.blocks:
            if block.use.startswith("on "):
                self.follow(block)

    def follow(self, block):
        names = re.findall(r"\b(?:db|app)-\d", block.use) or [self.leader().name]
        if "once the cluster is complete" in block.use:
            self.complete()
        if "once HAProxy knows the primary" in block.use:
            ask = "PGPASSWORD=change-me psql --host=127.0.0.1 --username=ads --command='CREATE TEMP TABLE here (n int)' ads"
            wait("HAProxy knows the primary", lambda: all(it.run(ask, may_fail=True)[1] == 0 for it in self.services))
        for name in names:
            print(f"== {name}: {block.text.splitlines()[0]}", flush=True)
            if "in the background" in block.use:
                self.serve(self[name])
                continue
            output, code = self[name].run(block.text, may_fail=True)
            assert code == ("fails" in block.use), f"{name}: exit code {code} of\n{block.text}\n{output}"
        if shown := self.page.output_after(block):
            self.page.expect(shown, output)

    def serve(self, machine):
        [block] = [block for block in self.page.blocks if "in the background" in block.use]
        self.processes[machine.name] = machine.start(f"set -a; . ./ads.env; set +a; exec {block.text}", self.logs[machine.name])

    def have_clients(self):
        self.services_are_ready()
        self.token = self.services[0].run("ad-server token issue --dealer-code north-cars 2>/dev/null").strip()

    def services_are_ready(self):
        for machine in self.services:
            wait(f"{machine.name} is ready", lambda: Api(f"{machine.address}:8080", "").request("GET", "/readyz")[0] == 200)

    def log(self):
        return "".join(file.read_text() for file in self.logs.values())

    def sql(self, machine, statement):
        """What PostgreSQL on a machine answers, as its administrator; nothing if it does not."""
        psql = ["runuser", "-u", "postgres", "--", "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--command", statement]
        if machine.init.poll() is not None:
            return ""
        return subprocess.run(machine.inside(*psql), capture_output=True, text=True, cwd="/tmp").stdout.strip()

    def leader(self, without=None):
        """The machine whose PostgreSQL accepts writes."""
        return wait(
            "there is a primary",
            lambda: next((it for it in self.databases if it is not without and self.sql(it, "SELECT pg_is_in_recovery()") == "f"), None),
            pause=0.02,
        )

    def promoted(self, without):
        """Waits for the next primary, and returns when it was promoted, as its own log says."""
        log = self.leader(without).folder / "var/log/patroni.log"
        [*_, last] = re.findall(r"^(\S+ \S+) UTC \[\d+\] LOG:  selected new timeline ID", log.read_text(), re.MULTILINE)
        return datetime.fromisoformat(f"{last}+00:00").timestamp()

    def list(self):
        up = next(it for it in self.databases if it.init.poll() is None)
        return up.run("patronictl list", may_fail=True)[0]

    def complete(self):
        """A leader, a synchronous standby and another one, all on one timeline."""
        roles = ("Leader", "Sync Standby", "Replica")
        wait("the cluster is complete", lambda: all(f"| {role} " in (shown := self.list()) for role in roles) and shown.count("streaming") == 2, 120)

    def standby(self, role):
        row = next(line for line in self.list().splitlines() if f"| {role} " in line)
        return self[row.split("|")[1].strip()]

    def switch_on(self, machine):
        machine.on()
        machine.run(self.variables)
        machine.run("export PATH=$PATH:/opt/patroni/bin PATRONICTL_CONFIG_FILE=/etc/patroni/patroni.yml")
        machine.run("systemctl start etcd patroni")


def main():
    if "FAILOVER_FOLDER" not in os.environ:
        with tempfile.TemporaryDirectory(prefix="failover-") as folder:
            os.chmod(folder, 0o755)
            install(Page(PAGE), Path(folder))
            sys.exit(in_own_namespaces(folder))
    server, *wanted = sys.argv[1:]
    folder = Path(os.environ["FAILOVER_FOLDER"])
    make_network()
    shutil.copytree(Path(__file__).parent / "bin", folder / "opt/bin")
    shutil.copy(server, folder / "opt/bin/ad-server")
    cluster = Cluster(Page(PAGE), folder)
    cluster.set_up()
    cluster.have_clients()
    for scenario in [getattr(scenarios, name) for name in wanted] or scenarios.ALL:
        print(f"\n== {scenario.__name__}", flush=True)
        scenario(cluster)
    print("\neverything is as the page says")


main()
