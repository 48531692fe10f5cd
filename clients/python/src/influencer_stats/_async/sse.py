"""Asynchronous client of sse."""

import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, cast

import httpx

from .._pause import pause_async
from ..errors import ServiceError
from ..types.sse import Connections
from ..types.streams import GapEvent, StreamEvent, ValueEvent
from .requester import STREAM_TIMEOUT, AsyncServiceClient, read_blocks

RETRY_DELAY = 2.0
"""Reconnection time before the service states one (s)."""
NO_CONTENT = 204


class AsyncSseClient(AsyncServiceClient):
    """Asynchronous client of a service `sse`. A refusal is a `ServiceError`."""

    async def put(self, value: str, *, topic: str | None = None, timeout: float | None = None) -> str:
        """Sends a value to every stream of a topic, by default `default`. Returns the id of its event."""
        reply = await self._requester.send(
            "POST",
            "/put",
            query={"topic": topic},
            headers={"content-type": "text/plain"},
            content=value.encode(),
            timeout=timeout,
        )
        return str(reply.headers["event-id"])

    async def put_values(self, values: Iterable[Mapping[str, str]], *, timeout: float | None = None) -> str:
        """Sends up to 1,000 values, all or none: `{"topic", "value"}`. Returns the id of the last event."""
        reply = await self._requester.send("POST", "/values", json=list(values), timeout=timeout)
        return str(reply.json()["last"])

    async def get_value(self, *, topic: str | None = None, timeout: float | None = None) -> str | None:
        """Returns the current value of a topic; `None` if it has none."""
        misses = ("VALUE_NOT_FOUND",)
        reply = await self._requester.find(misses, "GET", "/value", query={"topic": topic}, timeout=timeout)
        return None if reply is None else reply.content.decode()

    async def subscribe(
        self,
        *,
        topics: Sequence[str] | None = None,
        match: Sequence[str] | None = None,
        last: bool = False,
        after: str | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[StreamEvent, None]:
        """Yields values as they are put, and gaps: `ValueEvent` and `GapEvent`.

        `topics`: without `topics` and `match`, the topic is `default`; `match`: prefixes of topics, such as
        `collections/*`; `last`: begin with the current value of each topic; `after`: id of the event to resume after.

        A lost stream is opened again, and resumes after the last event. The iterator ends after `close_all` of any
        client. It raises only refusals that a later request would get, too. To end it, leave the loop.
        """
        query = {"cid": "client", "topic": topics, "match": match, "named": 1, "last": 1 if last else None}
        retry = RETRY_DELAY
        last_id = after
        while True:
            delay: float | None = None
            options: Any = {"query": query, "timeout": timeout, "read_timeout": STREAM_TIMEOUT}
            headers = {"accept": "text/event-stream", "last-event-id": last_id}
            try:
                async with self._requester.stream("GET", "/wait", headers=headers, **options) as reply:
                    if reply.status_code == NO_CONTENT:
                        return
                    async for block in read_blocks(reply):
                        retry = retry if block.retry is None else block.retry
                        last_id = block.id or last_id
                        if block.event == "closed":
                            return
                        if block.event == "gap":
                            yield GapEvent(last_id or "")
                        elif block.data is not None:
                            fields = json.loads(block.data)
                            yield ValueEvent(last_id or "", fields["topic"], fields["value"])
            except ServiceError as error:
                if error.is_permanent:
                    raise
                delay = error.retry_after
            except (httpx.UnsupportedProtocol, httpx.LocalProtocolError):
                raise
            except httpx.TransportError:
                pass
            await pause_async(max(retry, delay or 0))

    async def get_connections(self, *, timeout: float | None = None) -> Connections:
        """Returns the numbers of open streams."""
        return cast(Connections, (await self._requester.send("GET", "/connections", timeout=timeout)).json())

    async def close_all(self, *, timeout: float | None = None) -> None:
        """Ends all streams; their clients do not reconnect."""
        await self._requester.send("POST", "/closeall", timeout=timeout)
