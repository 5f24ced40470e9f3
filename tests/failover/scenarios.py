"""What fails, and what the page says about it: how long nothing is accepted, and how clients, commands and logs show it."""

import itertools
import json
import signal
import time

from load import Api, Load, ad
from machines import wait

NUMBERS = itertools.count(1)


class Outage:
    """Clients write before, while and after something happens."""

    def __init__(self, cluster):
        cluster.complete()
        self.cluster = cluster
        self.load = Load(f"car-{next(NUMBERS)}", [f"{it.address}:8080" for it in cluster.services], cluster.token)
        self.load.first_after(time.time())
        time.sleep(1)
        self.leader = cluster.leader()
        self.began = time.time()

    def after_promotion(self):
        """Waits for the next primary and the first write on it."""
        promoted = self.cluster.promoted(self.leader)
        return {"promotion": promoted - self.began, "first write": self.load.first_after(promoted) - promoted}

    def ends(self, event, **seen):
        """Nothing was lost or doubled, nothing restarted, and nobody waited longer than the page says, in the row of the event if it has one."""
        cluster, load = self.cluster, self.load
        cluster.complete()
        time.sleep(2)
        load.stop()
        seen = {"without writes": load.gap()} | seen | {"longest request": load.longest}
        print(f"   {len(load.accepted)} accepted, answers {dict(load.answers)}, " + ", ".join(f"{it} {seen[it]:.1f} s" for it in seen), flush=True)
        lost, doubled = load.lost_and_doubled(Api(f"{cluster.services[0].address}:8080", cluster.token))
        assert not lost and not doubled, f"lost {lost[:5]}, doubled {doubled[:5]}"
        assert not load.wrong, load.wrong[:5]
        assert all(process.poll() is None for process in cluster.processes.values()), "a process of the service has ended"
        limits = cluster.page.table("What clients see")
        rows = {
            "without writes": event,
            "first write": "first accepted write after the promotion",
            "after one is back": "accepted again after one of two machines is back",
            "longest request": "longest time to an answer",
        }
        for name, row in rows.items():
            limit = limits[row][-1] if row else float("inf")
            assert seen.get(name, 0) <= limit, f"{name}: {seen[name]:.1f} s, and the page says {limit}"


def switchover(cluster):
    outage = Outage(cluster)
    outage.leader.run(cluster.page.block("switchover").text)
    outage.ends("`patronictl switchover`", **outage.after_promotion())


def postgresql_dies(cluster):
    outage = Outage(cluster)
    outage.leader.run("pkill -KILL -x postgres")
    outage.ends("PostgreSQL dies on the primary (`kill -9`)", **outage.after_promotion())


def machine_dies(cluster):
    outage = Outage(cluster)
    outage.leader.off()
    seen = outage.after_promotion()
    cluster.switch_on(outage.leader)
    outage.ends("the machine of the primary dies", **seen)


def machine_hangs(cluster):
    outage = Outage(cluster)
    outage.leader.signal_all(signal.SIGSTOP)
    seen = outage.after_promotion()
    outage.leader.signal_all(signal.SIGCONT)
    outage.ends("the machine of the primary hangs, and goes on later", **seen)


def standby_dies(cluster):
    outage = Outage(cluster)
    standby = cluster.standby("Sync Standby")
    standby.off()
    time.sleep(20)
    cluster.switch_on(standby)
    outage.ends("the machine of the synchronous standby dies")


def etcd_dies(cluster):
    outage = Outage(cluster)
    for machine in cluster.databases:
        machine.run("systemctl stop etcd")
    time.sleep(60)
    for machine in cluster.databases:
        machine.run("systemctl start etcd")
    outage.ends("etcd is away on all machines for a minute")


def no_standby(cluster):
    """Both standbys are away, and Patroni is told that every commit needs one."""
    cluster.complete()
    leader = cluster.leader()
    leader.run(cluster.page.block("strict").text)
    standbys = [it for it in cluster.databases if it is not leader]
    for standby in standbys:
        standby.run("systemctl stop patroni")
    api = Api(f"{cluster.services[0].address}:8080", cluster.token)
    body, key = ad("strict"), {"Idempotency-Key": '"strict-1"'}
    wait("commits wait", lambda: api.request("POST", "/v4/car", ad(f"before-{time.time()}"))[0] == 503, 90)
    began = time.time()
    status, headers, answer = api.request("POST", "/v4/car", body, key)
    took = time.time() - began
    print(f"   {status} after {took:.1f} s, Retry-After {headers['Retry-After']}: {answer}", flush=True)
    assert status == 503 and "Retry-After" in headers, answer
    [limit] = cluster.page.table("No standby")["a write gets 503 with `Retry-After` after"]
    assert took <= limit, f"{took:.1f} s"
    assert api.request("GET", "/v4/ad?limit=1")[0] == 200, "reads work"
    wait("/readyz says so", lambda: api.request("GET", "/readyz")[0] == 503)
    line = cluster.page.block("log of no standby").text.strip()
    wait("the log says so", lambda: line in cluster.log())
    for standby in standbys:
        standby.run("systemctl start patroni")
    wait("the write is repeated", lambda: api.request("POST", "/v4/car", body, key)[0] == 201, 120)
    wait("/readyz is 200", lambda: api.request("GET", "/readyz")[0] == 200)
    leader.run(cluster.page.block("not strict").text)
    cluster.complete()


def start_before_promotion(cluster):
    """A process that is started while its address leads to a standby."""
    cluster.complete()
    command = cluster.page.block("start on a standby")
    began = time.time()
    address = cluster.standby("Replica").address
    output, code = cluster.services[0].run(command.text.replace("10.0.0.12", address).strip() + " 2>&1", may_fail=True)
    took = time.time() - began
    assert code == 1 and took < 15, f"exit code {code} after {took:.1f} s:\n{output}"
    cluster.page.expect(cluster.page.output_after(command), output)


def two_machines_die(cluster):
    """The primary is left alone, without a majority of etcd."""
    outage = Outage(cluster)
    others = [it for it in cluster.databases if it is not outage.leader]
    for machine in others:
        machine.off()
    wait("nothing is accepted any more", lambda: outage.load.quiet_for() > 20, 120)
    one_is_back = time.time()
    cluster.switch_on(others[0])
    seen = {"after one is back": outage.load.first_after(one_is_back) - one_is_back}
    cluster.switch_on(others[1])
    outage.ends(None, **seen)


def lossy(cluster):
    """The primary is lost while it was alone, and somebody forces the promotion of a standby that lacks its last commits."""
    cluster.complete()
    api = Api(f"{cluster.services[0].address}:8080", cluster.token)
    post = lambda source_id: api.request("POST", "/v4/car", ad(source_id), {"Idempotency-Key": f'"{source_id}"'})
    leader = cluster.leader()
    wait("a first ad", lambda: post("kept")[0] == 201)
    kept = wait("it is published", lambda: published(api, "kept"))
    standbys = [it for it in cluster.databases if it is not leader]
    for standby in standbys:
        standby.run("systemctl stop patroni")
    time.sleep(1)
    began = time.time()
    wait("the primary accepts writes alone", lambda: post("lost")[0] == 201, 60)
    print(f"   accepted alone after {time.time() - began:.1f} s", flush=True)
    wait("it is published", lambda: published(api, "lost"))
    status, headers, answer = api.request("PATCH", "/v4/car/kept", {"body": "A text that is lost"})
    assert status == 200, answer
    lost_tag, lost_cursor = headers["ETag"], api.request("GET", "/v4/events?limit=1000")[2]["cursor"]
    leader.off()
    for standby in standbys:
        standby.run("systemctl start patroni")
    # Nobody is promoted by itself.
    time.sleep(45)
    assert not any(cluster.sql(it, "SELECT pg_is_in_recovery()") == "f" for it in standbys), "a standby was promoted that lacks commits"
    status, headers, answer = api.request("POST", "/v4/car", ad("while there is no primary"))
    assert status == 503 and "Retry-After" in headers
    output, code = cluster.services[0].run("ad-server check", may_fail=True)
    assert code == 1, output
    cluster.page.expect(cluster.page.output_after(cluster.page.block("no primary")), output)
    standbys[0].run(cluster.page.block("the choice").text.replace("db-2", standbys[0].name))
    standbys[0].run(cluster.page.block("force").text)
    cluster.promoted(leader)
    wait("writes are accepted", lambda: post("after")[0] == 201)
    status, _, answer = api.request("GET", f"/v4/events?after={lost_cursor}", None, {"Accept": "application/problem+json"})
    assert status == 400 and "cursor_beyond_end" in json.dumps(answer), answer
    status, _, answer = api.request("PATCH", "/v4/car/kept", {"body": "The next text"}, {"If-Match": lost_tag})
    assert status == 412, answer
    assert api.request("GET", "/v4/car/lost")[0] == 404
    assert post("lost")[0] == 201, "a client that repeats it gets it stored"
    assert "a new epoch of events and tags begins" in cluster.log()
    leader.on()
    leader.run("systemctl start etcd")
    found = leader.run(cluster.page.block("look").text)
    assert "lost" in found, found
    leader.off()
    cluster.switch_on(leader)
    cluster.complete()
    assert api.request("GET", "/v4/ad?limit=1")[0] == 200 and kept


def published(api, source_id):
    status, _, answer = api.request("GET", f"/v4/events?limit=1000&source_id={source_id}")
    return status == 200 and any(event["type"] == "ad.publish.done" for event in answer["events"])


ALL = [switchover, postgresql_dies, machine_dies, machine_hangs, standby_dies, etcd_dies, start_before_promotion, no_standby, two_machines_die, lossy]
