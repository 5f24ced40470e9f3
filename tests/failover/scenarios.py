"""What fails, and what the page says about it."""

import itertools
import signal
import time

from load import Api, Load, ad

NUMBERS = itertools.count(1)


class Outage:
    """Clients write before, while and after something happens."""

    def __init__(self, cluster, event):
        self.cluster, self.event = cluster, event
        self.load = Load(f"{cluster.run_id}-{next(NUMBERS)}", [f"{it.address}:8080" for it in cluster.services], cluster.token)
        self.load.first_after(time.time())
        time.sleep(1)
        self.began = time.time()

    def accepted_again(self, moment):
        first = self.load.first_after(moment)
        return first - moment

    def ends(self, **seen):
        time.sleep(3)
        self.load.stop()
        cluster, load = self.cluster, self.load
        seen = {"gap": load.gap(), **seen, "longest": load.longest}
        print(f"   {self.event}: {len(load.accepted)} accepted, answers {dict(load.answers)}, "
              + ", ".join(f"{name} {value:.1f} s" for name, value in seen.items()), flush=True)
        lost, doubled = load.lost_and_doubled(Api(f"{cluster.services[0].address}:8080", cluster.token))
        assert not lost and not doubled, f"lost {lost[:5]}, doubled {doubled[:5]}"
        assert not load.wrong, load.wrong[:5]
        assert all(process.poll() is None for process in cluster.processes.values()), "a process of the service has ended"
        return seen


def switchover(cluster):
    outage = Outage(cluster, "switchover")
    leader = cluster.leader()
    leader.run(cluster.page.block("switchover").text)
    _, promoted = cluster.promoted(leader)
    outage.ends(after=outage.accepted_again(promoted))


def postgresql_dies(cluster):
    outage = Outage(cluster, "postgresql dies")
    leader = cluster.leader()
    leader.run("pkill -KILL -x postgres")
    _, promoted = cluster.promoted(leader)
    outage.ends(promotion=promoted - outage.began, after=outage.accepted_again(promoted))


def machine_dies(cluster):
    cluster.complete()
    outage = Outage(cluster, "machine dies")
    leader = cluster.leader()
    leader.off()
    _, promoted = cluster.promoted(leader)
    after = outage.accepted_again(promoted)
    cluster.switch_on(leader)
    cluster.complete()
    outage.ends(promotion=promoted - outage.began, after=after)


def machine_hangs(cluster):
    cluster.complete()
    outage = Outage(cluster, "machine hangs")
    leader = cluster.leader()
    leader.signal_all(signal.SIGSTOP)
    _, promoted = cluster.promoted(leader)
    after = outage.accepted_again(promoted)
    leader.signal_all(signal.SIGCONT)
    cluster.complete()
    outage.ends(promotion=promoted - outage.began, after=after)


def standby_dies(cluster):
    cluster.complete()
    outage = Outage(cluster, "standby dies")
    standby = cluster.standby("Sync Standby")
    outage.began = time.time()
    standby.off()
    time.sleep(20)
    cluster.switch_on(standby)
    cluster.complete()
    outage.ends()


def etcd_dies(cluster):
    cluster.complete()
    outage = Outage(cluster, "etcd dies")
    for machine in cluster.databases:
        machine.run("systemctl stop etcd")
    time.sleep(60)
    for machine in cluster.databases:
        machine.run("systemctl start etcd")
    cluster.complete()
    outage.ends()


ALL = [switchover, postgresql_dies, machine_dies, machine_hangs, standby_dies, etcd_dies]
