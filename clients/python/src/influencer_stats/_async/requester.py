"""Requests of a client, and what all clients have."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx

from .._event_stream import Block, EventStreamParser, LineParser
from .._json import dump_json
from .._urls import Query, to_query
from ..errors import ServiceError, to_service_error

DEFAULT_TIMEOUT = 30.0
STREAM_TIMEOUT = 60.0
"""Time without a byte after which a stream counts as lost (s): four default heartbeats."""

Headers = Mapping[str, str | None]


class AsyncRequester:
    """Sends requests to the service at one address. Follows no redirect."""

    def __init__(
        self, url: str, token: str | None, timeout: float | None, transport: httpx.AsyncBaseTransport | None
    ) -> None:
        self._base = url.rstrip("/")
        self._timeout = timeout
        self._authorization = {"authorization": f"Bearer {token}"} if token else {}
        # Streams remain open, so their number must not limit that of other requests.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        self._client = httpx.AsyncClient(transport=transport, limits=limits, follow_redirects=False)
        self.sequence: int | None = None

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        headers: Headers | None = None,
        json: Any = None,
        content: str | bytes | Iterable[bytes] | AsyncIterator[bytes] | None = None,
        timeout: float | None = None,
        read_timeout: float | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """Sends a request, and opens its reply. Raises a `ServiceError` if the status is not 2xx."""
        parameters = to_query(query or {})
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        if json is not None:
            content = dump_json(json)
            sent.setdefault("content-type", "application/json")
        total = self._timeout if timeout is None else timeout
        async with self._client.stream(
            method,
            f"{self._base}{path}?{parameters}" if parameters else self._base + path,
            headers={**self._authorization, **sent},
            content=content,
            timeout=httpx.Timeout(total, read=total if read_timeout is None else read_timeout),
        ) as reply:
            if sequence := reply.headers.get("sequence"):
                self.sequence = max(self.sequence or 0, int(sequence))
            if not reply.is_success:
                await reply.aread()
                raise to_service_error(reply.status_code, reply.content, reply.headers.get("retry-after"))
            yield reply

    async def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Sends a request, and reads its reply."""
        async with self.stream(method, path, **options) as reply:
            await reply.aread()
            return reply

    async def find(self, codes: Iterable[str], method: str, path: str, **options: Any) -> httpx.Response | None:
        """Sends a request. Returns `None` if the service refuses it with one of the codes."""
        try:
            return await self.send(method, path, **options)
        except ServiceError as error:
            if error.code in codes:
                return None
            raise

    async def aclose(self) -> None:
        await self._client.aclose()


class AsyncServiceClient:
    """Base of the clients. A client is also a context manager, which closes it."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Creates a client of the service at `url`, which may end in a path prefix.

        `token`: required for changes if the service has an `API_TOKEN`, and for reads if it has a `READ_TOKEN`.
        `timeout`: of the connection, and of each wait for bytes (s); `None` for no limit. Each method accepts another.
        `transport`: replaces the transport of httpx, for example in tests.
        """
        self._requester = AsyncRequester(url, token, timeout, transport)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._requester.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


async def read_blocks(reply: httpx.Response) -> AsyncGenerator[Block, None]:
    """Yields the blocks of an event stream as they arrive."""
    parser = EventStreamParser()
    async for chunk in reply.aiter_bytes():
        for block in parser.feed(chunk):
            yield block


async def read_lines(reply: httpx.Response) -> AsyncGenerator[bytes, None]:
    """Yields the lines of a reply as they arrive."""
    parser = LineParser()
    async for chunk in reply.aiter_bytes():
        for line in parser.feed(chunk):
            yield line
    for line in parser.end():
        yield line
