"""Asynchronous client of kv."""

import json
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Literal
from urllib.parse import unquote

import httpx

from .._json import dump_json
from .._pause import pause_async
from .._urls import Query
from ..errors import ServiceError
from ..types.kv import Change, ChangeSet, Entry, Expiry, Page, Value, WatchChange
from .requester import STREAM_TIMEOUT, AsyncServiceClient, read_blocks, read_lines

MISSES = ("ENTITY_NOT_FOUND",)
NDJSON = "application/x-ndjson"
MAX_PAGE_ENTRIES = 1_000
RETRY_DELAY = 1.0
"""Minimum delay before a watch stream without changes is opened again (s)."""


class AsyncKvClient(AsyncServiceClient):
    """Asynchronous client of a service `kv`.

    Values are bytes; a text is sent as UTF-8. A key without a value is `None`. Any other refusal is a `ServiceError`.

    Options of reads: `linearizable`: the read sees every write that any node acknowledged before; `after`: a sequence
    that the read must see. Options of writes: `durable`: reply only once the write survives a power cut;
    `idempotency_key`: if the same write is sent again, it has no second effect. Conditions: `if_match`: the ETag of the
    current value, or `*`; `if_none_match`: `*` if there must be no value. A failed condition is `CONDITION_FAILED`.
    """

    @property
    def sequence(self) -> int | None:
        """Highest sequence in the replies of a cluster. A read with it as `after` sees all writes of this client."""
        return self._requester.sequence

    async def get(
        self, id: str, *, linearizable: bool = False, after: int | None = None, timeout: float | None = None
    ) -> Value | None:
        """Returns a value and its ETag."""
        query = {"id": id, **_to_read_query(linearizable, after)}
        reply = await self._requester.find(MISSES, "GET", "/v0/entity", query=query, timeout=timeout)
        if reply is None:
            return None
        expires_at = reply.headers.get("expires-at")
        return Value(reply.content, reply.headers["etag"], None if expires_at is None else int(expires_at))

    async def get_many(
        self,
        ids: Sequence[str],
        *,
        linearizable: bool = False,
        after: int | None = None,
        timeout: float | None = None,
    ) -> Sequence[Value | None]:
        """Reads many values from one snapshot, in the order of `ids`: at most 10,000 keys and 1 MiB of JSON."""
        if not ids:
            return []
        options: Any = {"json": {"ids": ids}, "query": _to_read_query(linearizable, after), "timeout": timeout}
        async with self._requester.stream("POST", "/v0/entities/get", **options) as reply:
            return [_to_found(line) async for line in read_lines(reply)]

    async def put(
        self,
        id: str,
        value: str | bytes,
        *,
        ttl: int | None = None,
        if_match: str | None = None,
        if_none_match: Literal["*"] | None = None,
        durable: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Stores a value; with `ttl`, it expires after this time (s). Returns its ETag."""
        reply = await self._requester.send(
            "PUT",
            "/v0/entity",
            query={"id": id, "ttl": ttl, **_to_write_query(durable)},
            headers={
                "content-type": "application/octet-stream",
                **_to_write_headers(if_match, if_none_match, idempotency_key),
            },
            content=value.encode() if isinstance(value, str) else bytes(value),
            timeout=timeout,
        )
        return str(reply.headers["etag"])

    async def delete(
        self,
        id: str,
        *,
        if_match: str | None = None,
        if_none_match: Literal["*"] | None = None,
        durable: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Deletes a value. Without a condition, the key need not have one."""
        query = {"id": id, **_to_write_query(durable)}
        headers = _to_write_headers(if_match, if_none_match, idempotency_key)
        await self._requester.send("DELETE", "/v0/entity", query=query, headers=headers, timeout=timeout)

    async def get_expiry(
        self, id: str, *, linearizable: bool = False, after: int | None = None, timeout: float | None = None
    ) -> Expiry | None:
        """Returns the expiry of a value."""
        query = {"id": id, **_to_read_query(linearizable, after)}
        reply = await self._requester.find(MISSES, "GET", "/v0/entity/expiry", query=query, timeout=timeout)
        if reply is None:
            return None
        fields = reply.json()
        return Expiry(fields["expiresAt"], fields["remaining"])

    async def expire(
        self,
        id: str,
        ttl: int,
        *,
        if_match: str | None = None,
        if_none_match: Literal["*"] | None = None,
        durable: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> bool:
        """Sets the time to expiry of a value (s). Returns false if the key has no value."""
        query = {"id": id, "ttl": ttl, **_to_write_query(durable)}
        headers = _to_write_headers(if_match, if_none_match, idempotency_key)
        return await self._change_expiry("PUT", query, headers, timeout)

    async def persist(
        self,
        id: str,
        *,
        if_match: str | None = None,
        if_none_match: Literal["*"] | None = None,
        durable: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> bool:
        """Removes the expiry of a value. Returns false if the key has no value."""
        query = {"id": id, **_to_write_query(durable)}
        headers = _to_write_headers(if_match, if_none_match, idempotency_key)
        return await self._change_expiry("DELETE", query, headers, timeout)

    async def batch(
        self,
        changes: Iterable[Change],
        *,
        durable: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> int:
        """Applies all changes, in their order, or none. Returns their number."""
        lines = b"".join(_to_line(change) for change in changes)
        if not lines:
            return 0
        headers = {"content-type": NDJSON, **_to_write_headers(None, None, idempotency_key)}
        query = _to_write_query(durable)
        reply = await self._requester.send(
            "POST", "/v0/batch", query=query, headers=headers, content=lines, timeout=timeout
        )
        return int(reply.json()["applied"])

    async def entries(
        self,
        *,
        prefix: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
        cursor: str | None = None,
        linearizable: bool = False,
        after: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[Entry, None]:
        """Yields the entries of a range from one snapshot, in the byte order of their keys.

        `start`, `end`: first key, and first key after the range; `cursor`: continue after this key.
        """
        range = _to_range(prefix, start, end, limit, reverse, cursor, linearizable, after)
        async with aclosing(self._read_range(range, timeout)) as lines:
            async for line in lines:
                yield _to_entry(line)

    async def keys(
        self,
        *,
        prefix: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
        cursor: str | None = None,
        linearizable: bool = False,
        after: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[str, None]:
        """Yields the keys of a range, without values."""
        range = _to_range(prefix, start, end, limit, reverse, cursor, linearizable, after)
        async with aclosing(self._read_range({**range, "keys": True}, timeout)) as lines:
            async for line in lines:
                yield json.loads(line)["id"]

    async def count(
        self,
        *,
        prefix: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        linearizable: bool = False,
        after: int | None = None,
        timeout: float | None = None,
    ) -> int:
        """Returns the number of entries in a range; at most `limit`."""
        range = _to_range(prefix, start, end, limit, False, cursor, linearizable, after)
        query = {**range, "count": True}
        reply = await self._requester.send(
            "GET", "/v0/entities", query=query, headers={"accept": NDJSON}, timeout=timeout
        )
        return int(reply.json()["count"])

    async def get_page(
        self,
        *,
        prefix: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: int = 100,
        reverse: bool = False,
        cursor: str | None = None,
        linearizable: bool = False,
        after: int | None = None,
        timeout: float | None = None,
    ) -> Page:
        """Reads one page of entries. `limit`: 1 to 1,000; `cursor`: `next` of the previous page."""
        range = _to_range(prefix, start, end, min(limit, MAX_PAGE_ENTRIES), reverse, cursor, linearizable, after)
        options: Any = {"query": range, "headers": {"accept": NDJSON}, "timeout": timeout}
        async with self._requester.stream("GET", "/v0/entities", **options) as reply:
            entries = [_to_entry(line) async for line in read_lines(reply)]
            following = reply.headers.get("next")
        return Page(entries, None if following is None else unquote(following))

    async def watch(
        self,
        *,
        prefix: str | None = None,
        start: str | None = None,
        end: str | None = None,
        after: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[ChangeSet, None]:
        """Yields the changes of a range as they take effect, from the next one, or after the sequence `after`.

        Items without changes report the sequence up to which the stream has all changes. A copy of the range that is
        read after the first item remains current. A lost stream is opened again after the last sequence. If the
        service no longer has the changes after it: `SEQUENCE_EXPIRED` (410); then read the range again.
        """
        sequence = after
        while True:
            has_changes = False
            delay = RETRY_DELAY
            query = {"prefix": prefix, "start": start, "end": end, "after": sequence, "progress": "true"}
            options: Any = {"query": query, "timeout": timeout, "read_timeout": STREAM_TIMEOUT}
            try:
                async with self._requester.stream("GET", "/v0/watch", **options) as reply:
                    changes: list[WatchChange] = []
                    async for block in read_blocks(reply):
                        if block.data is not None:
                            changes.append(_to_watch_change(block.data))
                        if block.id:
                            sequence = int(block.id)
                            has_changes = has_changes or bool(changes)
                            yield ChangeSet(sequence, changes)
                            changes = []
            except ServiceError as error:
                if error.is_permanent:
                    raise
                delay = max(delay, error.retry_after or 0)
            except (httpx.UnsupportedProtocol, httpx.LocalProtocolError):
                raise
            except httpx.TransportError:
                pass
            # A stream that delivered changes is opened again at once.
            if not has_changes:
                await pause_async(delay)

    async def _change_expiry(
        self, method: str, query: Query, headers: dict[str, str | None], timeout: float | None
    ) -> bool:
        reply = await self._requester.find(
            MISSES, method, "/v0/entity/expiry", query=query, headers=headers, timeout=timeout
        )
        return reply is not None

    async def _read_range(self, query: Query, timeout: float | None) -> AsyncGenerator[bytes, None]:
        headers = {"accept": NDJSON}
        async with self._requester.stream(
            "GET", "/v0/entities", query=query, headers=headers, timeout=timeout
        ) as reply:
            async for line in read_lines(reply):
                yield line


def _to_read_query(linearizable: bool, after: int | None) -> dict[str, Any]:
    return {"linearizable": linearizable or None, "after": after}


def _to_write_query(durable: bool) -> dict[str, Any]:
    return {"durable": durable or None}


def _to_write_headers(
    if_match: str | None, if_none_match: str | None, idempotency_key: str | None
) -> dict[str, str | None]:
    key = None if idempotency_key is None else f'"{idempotency_key}"'
    return {"if-match": if_match, "if-none-match": if_none_match, "idempotency-key": key}


def _to_range(
    prefix: str | None,
    start: str | None,
    end: str | None,
    limit: int | None,
    reverse: bool,
    cursor: str | None,
    linearizable: bool,
    after: int | None,
) -> dict[str, Any]:
    bounds = {"prefix": prefix, "start": start, "end": end, "limit": limit, "cursor": cursor}
    return {**bounds, "reverse": reverse or None, **_to_read_query(linearizable, after)}


def _to_bytes(fields: dict[str, Any]) -> bytes:
    encoded = fields.get("valueBase64")
    return fields["value"].encode() if encoded is None else b64decode(encoded)


def _to_entry(line: bytes) -> Entry:
    fields = json.loads(line)
    return Entry(fields["id"], _to_bytes(fields), fields.get("expiresAt"))


def _to_found(line: bytes) -> Value | None:
    fields = json.loads(line)
    return Value(_to_bytes(fields), fields["etag"], fields.get("expiresAt")) if fields["found"] else None


def _to_watch_change(line: str) -> WatchChange:
    fields = json.loads(line)
    op = fields["op"]
    return WatchChange(op, fields["id"], _to_bytes(fields) if op == "put" else None, fields.get("expiresAt"))


def _to_line(change: Change) -> bytes:
    fields: dict[str, Any] = dict(change)
    if isinstance(fields.get("value"), (bytes, bytearray, memoryview)):
        fields["valueBase64"] = b64encode(fields.pop("value")).decode()
    return dump_json(fields) + b"\n"
