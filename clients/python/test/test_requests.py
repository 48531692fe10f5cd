"""Refusals and headers, without a service."""

from collections.abc import Callable, Iterator
from itertools import islice

import httpx
import pytest

from influencer_stats import KvClient, ServiceError, SseClient, StatsClient, ValueEvent
from influencer_stats._sync import sse as sse_module

Handler = Callable[[httpx.Request], httpx.Response]


def create_stats(handler: Handler, **options: str) -> StatsClient:
    return StatsClient("http://service/prefix/", transport=httpx.MockTransport(handler), **options)  # type: ignore[arg-type]


def test_paths_and_token() -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(204)

    with create_stats(answer, token="secret") as stats:
        stats.remove_video("a/b", "c?d")
        stats.delete("..", if_version="7")
    assert [request.url.raw_path for request in requests] == [
        b"/prefix/collections/a%2Fb/videos/c%3Fd",
        b"/prefix/collections/%2E%2E",
    ]
    assert [request.headers["authorization"] for request in requests] == ["Bearer secret"] * 2
    assert requests[1].headers["if-match"] == '"7"'


@pytest.mark.parametrize(
    ("reply", "code", "retry_after"),
    [
        (httpx.Response(503, json={"code": "BUSY", "title": "Busy"}, headers={"retry-after": "7"}), "BUSY", 7),
        (httpx.Response(502, text="<html>"), "UNEXPECTED_REPLY", None),
        (httpx.Response(502, json=[1], headers={"retry-after": "soon"}), "UNEXPECTED_REPLY", None),
        (httpx.Response(302, headers={"location": "http://other/"}), "UNEXPECTED_REDIRECT", None),
    ],
)
def test_refusals(reply: httpx.Response, code: str, retry_after: int | None) -> None:
    with create_stats(lambda _: reply) as stats, pytest.raises(ServiceError) as refusal:
        stats.get("a")
    error = refusal.value
    assert (error.status, error.code, error.retry_after) == (reply.status_code, code, retry_after)


def test_lone_surrogates_are_refused() -> None:
    with create_stats(lambda _: httpx.Response(204)) as stats, pytest.raises(UnicodeEncodeError):
        stats.get("\ud800")


class Pieces(httpx.SyncByteStream):
    """A stream that breaks after its pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        raise httpx.ReadError("cut")


def test_stream_retries_with_its_last_id(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    ids: list[str | None] = []
    monkeypatch.setattr(sse_module, "pause", pauses.append)
    replies = [
        httpx.Response(200, stream=Pieces(b":\n\nretry: 1500\nid: e-1\n\n", b":\n\n")),
        httpx.Response(503, json={"code": "TOO_MANY_STREAMS"}, headers={"retry-after": "9"}),
        httpx.Response(200, stream=Pieces(b'id: e-2\ndata: {"topic":"t","value":"v"}\n\nid: e-3\ndata: incomplete')),
        httpx.Response(200, content=b"event: gap\nid: x-1\ndata:\n\nid: x-08\nevent: closed\ndata:\n\n"),
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        ids.append(request.headers.get("last-event-id"))
        return replies[len(ids) - 1]

    with SseClient("http://service", transport=httpx.MockTransport(answer)) as sse:
        events = list(sse.subscribe())
    assert [event.kind for event in events] == ["value", "gap"]
    assert isinstance(events[0], ValueEvent) and events[0].id == "e-2"
    assert ids == [None, "e-1", "e-1", "e-2"]
    assert pauses == [1.5, 9, 1.5]


def test_permanent_refusal_ends_a_stream() -> None:
    refusal = httpx.Response(401, json={"code": "UNAUTHORIZED"})
    with SseClient("http://service", transport=httpx.MockTransport(lambda _: refusal)) as sse:
        with pytest.raises(ServiceError, match="UNAUTHORIZED"):
            next(sse.subscribe())


def test_sequence_of_a_cluster() -> None:
    sequences = iter(["7", "9", "8"])
    answer = httpx.MockTransport(lambda _: httpx.Response(202, headers={"sequence": next(sequences)}))
    with KvClient("http://service", transport=answer) as kv:
        for _ in islice(range(9), 3):
            kv.delete("a")
        assert kv.sequence == 9
