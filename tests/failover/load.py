"""Clients that write while the database fails over, and what has become of their ads."""

import http.client
import itertools
import json
import threading
import time
import uuid
from collections import Counter


def ad(source_id, year=2019):
    return {"source_id": source_id, "category_id": 1020, "category_fields": {"registration_number": registration_number(), "model_year": year}}


NUMBERS = itertools.count()


def registration_number():
    """Another one each time."""
    number = next(NUMBERS)
    letters = "ABCDEFGHJKLMNOPRSTUWXYZ"
    return "".join(letters[number // 1000 // len(letters) ** place % len(letters)] for place in (2, 1, 0)) + f"{number % 1000:03}"


class Api:
    """One process of the service."""

    def __init__(self, address, token):
        self.address, self.token = address, token
        self.connection = None

    def request(self, method, path, body=None, headers=None):
        """Status, headers and answer. A request without an answer is an OSError or an HTTPException."""
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address, timeout=60)
            text = json.dumps(body) if body is not None else None
            self.connection.request(method, path, text, {"X-Auth-Token": self.token, "Content-Type": "application/json", **(headers or {})})
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, answer.headers, json.loads(text) if text else None
        except (OSError, http.client.HTTPException):
            self.connection = None
            raise


class Load:
    """Clients that each create one ad after the other, and repeat what was not accepted with the same Idempotency-Key."""

    def __init__(self, name, addresses, token, clients=8):
        self.name, self.token = name, token
        self.accepted, self.answers, self.wrong = {}, Counter(), []
        self.times, self.longest, self.pause = [], 0.0, 0.25
        self.running, self.lock = True, threading.Lock()
        self.threads = [
            threading.Thread(target=self.client, args=(number, addresses[number % len(addresses)]), daemon=True) for number in range(clients)
        ]
        for thread in self.threads:
            thread.start()

    def client(self, number, address):
        api = Api(address, self.token)
        for count in itertools.count():
            body, key = ad(f"{self.name}-{number}-{count}"), str(uuid.uuid4())
            while not self.create(api, body, key):
                time.sleep(self.pause)
            if not self.running:
                return

    def create(self, api, body, key):
        began = time.time()
        try:
            status, headers, answer = api.request("POST", "/v4/car", body, {"Idempotency-Key": f'"{key}"'})
        except (OSError, http.client.HTTPException) as error:
            status, headers, answer = type(error).__name__, {}, str(error)
        ended = time.time()
        with self.lock:
            self.answers[status] += 1
            self.longest = max(self.longest, ended - began)
            if status == 201:
                self.accepted[body["source_id"]] = answer["id"]
                self.times.append(ended)
            elif status != 503 or "Retry-After" not in headers:
                self.wrong.append(f"{status} {answer}")
        return status == 201

    def first_after(self, moment):
        """When the first write was accepted that was answered after a moment."""
        while True:
            assert not self.wrong, self.wrong[:5]
            with self.lock:
                later = [it for it in self.times if it > moment]
            if later:
                return min(later)
            time.sleep(0.05)

    def quiet_for(self):
        """The time since the last accepted write."""
        with self.lock:
            return time.time() - max(self.times)

    def gap(self):
        """The longest time without an accepted write."""
        times = sorted(self.times)
        return max(after - before for before, after in zip(times, times[1:]))

    def stop(self):
        """Ends when every client has had its last ad accepted."""
        self.running = False
        for thread in self.threads:
            thread.join()

    def lost_and_doubled(self, api):
        """Ads that were accepted and are not there or are others, and ads with more or less than one event of their creation."""
        events, cursor, has_more = Counter(), "", True
        while has_more:
            status, _, page = api.request("GET", f"/v4/events?limit=1000&types=ad.create.done{cursor}")
            assert status == 200, page
            events.update((event["source_id"], event["ad_id"]) for event in page["events"])
            cursor, has_more = f"&after={page['cursor']}", page["has_more"]
        lost = [it for it in self.accepted.items() if it not in events]
        doubled = [it for it, count in events.items() if count > 1] + [
            it for it, count in Counter(source_id for source_id, _ in events).items() if count > 1
        ]
        return lost, doubled
