import threading
import time
from itertools import islice

import pytest

from conftest import Urls
from influencer_stats import KvClient, ServiceError
from influencer_stats.types.kv import ChangeSet
from relay import Relay


def test_values(kv: KvClient) -> None:
    assert kv.get("none") is None
    etag = kv.put("a b+c/ä%", "hellö", durable=True)
    found = kv.get("a b+c/ä%")
    assert found is not None
    assert (found.value, found.text, found.etag, found.expires_at) == ("hellö".encode(), "hellö", etag, None)
    kv.put("bytes", b"\x00\xff")
    kv.put("empty", b"")
    many = kv.get_many(["bytes", "none", "empty"], linearizable=True)
    assert [None if one is None else one.value for one in many] == [b"\x00\xff", None, b""]
    assert kv.get_many([]) == []
    kv.delete("bytes")
    kv.delete("bytes")
    assert kv.get("bytes") is None
    assert kv.sequence is None


def test_conditions(kv: KvClient) -> None:
    etag = kv.put("once", "1", if_none_match="*")
    for attempt in (
        lambda: kv.put("once", "2", if_none_match="*"),
        lambda: kv.put("once", "2", if_match='"0"'),
        lambda: kv.delete("once", if_match='"0"'),
        lambda: kv.expire("once", 5, if_match='"0"'),
    ):
        with pytest.raises(ServiceError) as refusal:
            attempt()
        assert (refusal.value.code, refusal.value.status) == ("CONDITION_FAILED", 412)
    newer = kv.put("once", "2", if_match=etag)
    assert newer != etag
    kv.delete("once", if_match=newer)


def test_idempotency_key(kv: KvClient) -> None:
    first = kv.put("order", "1", idempotency_key="8e03978e")
    assert kv.put("order", "1", idempotency_key="8e03978e") == first
    with pytest.raises(ServiceError, match="IDEMPOTENCY_KEY_REUSED"):
        kv.put("order", "2", idempotency_key="8e03978e")


def test_expiry(kv: KvClient) -> None:
    kv.put("session", "1", ttl=3600)
    found, expiry = kv.get("session"), kv.get_expiry("session")
    assert found is not None and expiry is not None and expiry.remaining is not None
    assert expiry.expires_at == found.expires_at
    assert 3_500_000 < expiry.remaining <= 3_600_000
    assert kv.expire("session", 60) and kv.persist("session")
    expiry = kv.get_expiry("session")
    assert expiry is not None and expiry.expires_at is None
    assert not kv.expire("none", 60) and not kv.persist("none") and kv.get_expiry("none") is None


def test_ranges(kv: KvClient) -> None:
    values = {f"user/{number}": f"\u2028{number}\n" for number in range(5)}
    assert kv.batch([]) == 0
    assert kv.batch([{"op": "put", "id": id, "value": value} for id, value in values.items()]) == 5
    assert kv.batch([{"op": "put", "id": "user/5", "value": b"\xff", "ttl": 60}, {"op": "delete", "id": "none"}]) == 2
    entries = list(kv.entries(prefix="user/"))
    assert {entry.id: entry.text for entry in entries[:5]} == values
    assert entries[5].value == b"\xff" and entries[5].expires_at is not None
    kv.batch([{"op": "expire", "id": "user/5", "ttl": None}])
    assert next(kv.entries(prefix="user/", reverse=True, limit=1)).expires_at is None
    assert list(kv.keys(start="user/1", end="user/3")) == ["user/1", "user/2"]
    assert (kv.count(prefix="user/"), kv.count(prefix="user/", limit=2)) == (6, 2)
    page = kv.get_page(prefix="user/", limit=4)
    assert page.next == "user/3" and len(page.entries) == 4
    page = kv.get_page(prefix="user/", limit=4, cursor=page.next)
    assert [entry.id for entry in page.entries] == ["user/4", "user/5"] and page.next is None
    # A reader may stop early.
    assert next(kv.entries(prefix="user/")).id == "user/0"


def test_watch_resumes(urls: Urls, kv: KvClient) -> None:
    with Relay(urls["kv"]) as relay, KvClient(relay.url) as watcher:
        sets = watcher.watch(prefix="watched/")
        first = next(sets)
        assert first.changes == []
        found: list[ChangeSet] = []
        reader = threading.Thread(target=lambda: found.extend(islice((one for one in sets if one.changes), 6)))
        reader.start()
        for number in range(3):
            kv.put(f"watched/{number}", str(number), ttl=60)
            relay.cut()
            kv.delete(f"watched/{number}")
            time.sleep(0.05)
        reader.join(30)
        sets.close()
    changes = [(change.op, change.id, change.text) for one in found for change in one.changes]
    expected = [
        ("put", f"watched/{n}", str(n)) if op else ("delete", f"watched/{n}", None) for n in range(3) for op in (1, 0)
    ]
    assert changes == expected
    assert found[0].changes[0].expires_at is not None
    assert [one.sequence for one in found] == sorted({one.sequence for one in found})
    assert relay.connections > 1


def test_expired_sequence(kv: KvClient) -> None:
    with pytest.raises(ServiceError) as refusal:
        next(kv.watch(after=1))
    assert (refusal.value.code, refusal.value.status) == ("SEQUENCE_EXPIRED", 410)
