import threading
import time
from itertools import islice

import pytest

from conftest import Urls
from influencer_stats import GapEvent, ServiceError, SseClient, StreamEvent, ValueEvent
from relay import Relay


def test_values(sse: SseClient) -> None:
    assert sse.get_value(topic="none") is None
    first = sse.put("ä\u2028\nb", topic="news")
    assert sse.get_value(topic="news") == "ä\u2028\nb"
    last = sse.put_values([{"topic": "news", "value": "1"}, {"topic": "new", "value": "2"}])
    events = list(islice(sse.subscribe(match=["new*"], after=first), 2))
    assert [(event.kind, event.topic, event.value) for event in events if isinstance(event, ValueEvent)] == [
        ("value", "news", "1"),
        ("value", "new", "2"),
    ]
    assert events[1].id == last
    current = next(sse.subscribe(topics=["news", "absent"], last=True))
    assert isinstance(current, ValueEvent) and current.value == "1"
    assert "streams" in sse.get_connections()


def test_gap(sse: SseClient) -> None:
    sse.put("1", topic="gap")
    events = list(islice(sse.subscribe(topics=["gap"], after="unknown-7"), 2))
    assert [event.kind for event in events] == ["gap", "value"]
    assert isinstance(events[0], GapEvent)


def test_resumes_without_gap_or_duplicate(urls: Urls, sse: SseClient) -> None:
    with Relay(urls["sse"]) as relay, SseClient(relay.url) as reader:
        sse.put("first", topic="cut")
        events = reader.subscribe(topics=["cut"], last=True)
        found: list[StreamEvent] = [next(events)]
        thread = threading.Thread(target=lambda: found.extend(islice(events, 40)))
        thread.start()
        for number in range(40):
            sse.put(str(number), topic="cut")
            if number % 20 == 10:
                relay.cut()
            time.sleep(0.01)
        thread.join(40)
    assert [event.value if isinstance(event, ValueEvent) else event for event in found] == [
        "first",
        *map(str, range(40)),
    ]
    assert relay.connections > 1


def test_close_all(sse: SseClient) -> None:
    events = sse.subscribe(topics=["closed"], last=True)
    sse.put("1", topic="closed")
    assert next(events).kind == "value"
    sse.close_all()
    assert list(events) == []


def test_refusal(sse: SseClient) -> None:
    with pytest.raises(ServiceError) as refusal:
        next(sse.subscribe(topics=["x" * 100] * 501))
    assert refusal.value.is_permanent
