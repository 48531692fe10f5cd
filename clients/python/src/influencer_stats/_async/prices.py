"""Asynchronous client of prices."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, cast

from .._chunks import AsyncLines, iterate_async, to_async_chunks
from .._json import dump_json, load_exact_json, require_exact, to_exact_price
from .._urls import to_segment
from ..errors import ServiceError
from ..types.bulk import BulkAnswer, BulkError
from ..types.prices import (
    CheckReport,
    Facets,
    Imported,
    Price,
    PriceBody,
    PricePatch,
    RemovedPrices,
    Search,
    SearchAnswer,
)
from .requester import AsyncServiceClient, read_lines

MISSES = ("PRICE_NOT_FOUND",)
NDJSON = "application/x-ndjson"
MEDIA_TYPES = {"ndjson": NDJSON, "csv": "text/csv"}
MAX_BULK_SEARCHES = 2_000

Format = Literal["ndjson", "csv"]


class AsyncPricesClient(AsyncServiceClient):
    """Asynchronous client of a service `prices`.

    Requests and replies have the fields of the API. Values of prices are exact: a `Decimal` with the digits that were
    sent. Requests also accept an int or a text, and refuse a float. A price that does not exist is `None`. Any other
    refusal is a `ServiceError`.
    """

    async def search(
        self, request: Search, *, index: str = "bitmap", timeout: float | None = None
    ) -> SearchAnswer | None:
        """Returns the one matching price. `PRICES_AMBIGUOUS` (409) has `body["candidates"]`."""
        require_exact(request)
        reply = await self._requester.find(MISSES, "POST", _to_path(index), json=request, timeout=timeout)
        return None if reply is None else cast(SearchAnswer, to_exact_price(load_exact_json(reply.content)))

    async def search_all(
        self,
        conditions: Search | dict[str, Any],
        *,
        sort: Literal["value", "-value"] | None = None,
        limit: int | None = None,
        after: str | None = None,
        after_value: Decimal | int | str | None = None,
        index: str = "bitmap",
        timeout: float | None = None,
    ) -> AsyncGenerator[SearchAnswer, None]:
        """Yields every price that matches the given conditions, in the order of ids or values.

        `after`, `after_value`: id, and with `sort` the value, of the last price of the previous page.
        """
        require_exact(conditions)
        query = {"all": True, "sort": sort, "limit": limit, "after": after, "afterValue": after_value}
        options: Any = {"query": query, "json": conditions, "timeout": timeout}
        async with self._requester.stream("POST", _to_path(index), **options) as reply:
            async for line in read_lines(reply):
                yield cast(SearchAnswer, to_exact_price(load_exact_json(line)))

    async def search_many(
        self, requests: Iterable[Search] | AsyncIterable[Search], *, index: str = "bitmap", timeout: float | None = None
    ) -> AsyncGenerator[BulkAnswer, None]:
        """Yields an answer to each search, in order. Sends the searches in requests of up to 2,000.

        Each search has an `id`, a text or an int, which its answer repeats.
        """
        path = f"/v5/search/{to_segment(index)}/bulk/prices"
        number = 0
        part: list[bytes] = []
        async for search in iterate_async(requests):
            require_exact(search)
            part.append(dump_json(search) + b"\n")
            if len(part) == MAX_BULK_SEARCHES:
                async with aclosing(self._search_part(path, part, number, timeout)) as answers:
                    async for answer in answers:
                        yield answer
                number += len(part)
                part = []
        if part:
            async with aclosing(self._search_part(path, part, number, timeout)) as answers:
                async for answer in answers:
                    yield answer

    async def get_facets(
        self,
        *,
        offering_id: str | None = None,
        group_id: str | None = None,
        price_spec_id: str | None = None,
        char_values: Sequence[Any] | None = None,
        at: str | datetime | None = None,
        currency: str | None = None,
        min_value: Decimal | int | str | None = None,
        max_value: Decimal | int | str | None = None,
        facet: Literal["offerings", "groups", "specs", "characteristics"] | None = None,
        char: str | None = None,
        q: str | None = None,
        sort: Literal["name", "count"] | None = None,
        range: bool = False,
        limit: int | None = None,
        after: str | None = None,
        index: str | None = None,
        timeout: float | None = None,
    ) -> Facets:
        """Returns the values that can still be chosen, and how many prices would remain.

        `char_values`: the conditions of a search; `facet`, `char`: one list only; `after`: `next` of its previous page.
        """
        query = {
            "offeringId": offering_id,
            "groupId": group_id,
            "priceSpecId": price_spec_id,
            "charValues": None if char_values is None else dump_json(char_values).decode(),
            "at": at,
            "currency": currency,
            "minValue": min_value,
            "maxValue": max_value,
            "facet": facet,
            "char": char,
            "q": q,
            "sort": sort,
            "range": range or None,
            "limit": limit,
            "after": after,
            "index": index,
        }
        require_exact(query)
        facets = load_exact_json((await self._requester.send("GET", "/facets", query=query, timeout=timeout)).content)
        for values in facets.get("range", []):
            values.update(min=Decimal(values["min"]), max=Decimal(values["max"]))
        return cast(Facets, facets)

    async def get(self, id: str, *, timeout: float | None = None) -> Price | None:
        """Returns a price."""
        reply = await self._requester.find(MISSES, "GET", _to_price_path(id), timeout=timeout)
        return None if reply is None else _to_price(reply.content)

    async def put(self, price: PriceBody, *, timeout: float | None = None) -> None:
        """Creates or replaces the price with the id of `price`."""
        require_exact(price)
        await self._requester.send("PUT", _to_price_path(price["id"]), json=price, timeout=timeout)

    async def patch(self, id: str, patch: PricePatch, *, timeout: float | None = None) -> Price | None:
        """Changes fields of a price; `None` as a value removes an optional one."""
        require_exact(patch)
        headers = {"content-type": "application/merge-patch+json"}
        reply = await self._requester.find(
            MISSES, "PATCH", _to_price_path(id), json=patch, headers=headers, timeout=timeout
        )
        return None if reply is None else _to_price(reply.content)

    async def delete(self, id: str, *, timeout: float | None = None) -> bool:
        """Deletes a price. Returns true if it existed."""
        return await self._requester.find(MISSES, "DELETE", _to_price_path(id), timeout=timeout) is not None

    async def delete_where(
        self,
        conditions: Search | dict[str, Any],
        *,
        dry_run: bool = True,
        expected: int | None = None,
        timeout: float | None = None,
    ) -> RemovedPrices:
        """Deletes all prices that match the conditions, at least one, or none of them.

        `dry_run`: by default they are only counted; `expected`: the number of prices that must match, otherwise
        `MATCH_COUNT` (409).
        """
        require_exact(conditions)
        query: dict[str, Any] = {**conditions, "dryRun": dry_run, "expected": expected}
        if "charValues" in query:
            query["charValues"] = dump_json(query["charValues"]).decode()
        reply = await self._requester.send("DELETE", "/prices", query=query, timeout=timeout)
        return cast(RemovedPrices, reply.json())

    async def list(
        self, *, after: str | None = None, limit: int | None = None, timeout: float | None = None
    ) -> AsyncGenerator[Price, None]:
        """Yields prices in the order of ids, from one moment."""
        options: Any = {"query": {"after": after, "limit": limit}, "timeout": timeout}
        async with self._requester.stream("GET", "/prices", **options) as reply:
            async for line in read_lines(reply):
                yield _to_price(line)

    async def export(
        self,
        *,
        format: Format = "ndjson",
        after: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """Yields the bytes of a file with one price per line, in the order of ids."""
        options: Any = {"query": {"format": format, "after": after, "limit": limit}, "timeout": timeout}
        async with self._requester.stream("GET", "/prices", **options) as reply:
            async for chunk in reply.aiter_bytes():
                yield chunk

    async def import_prices(
        self,
        lines: AsyncLines,
        *,
        format: Format = "ndjson",
        gzip: bool = False,
        replace: bool = False,
        empty: bool = False,
        timeout: float | None = None,
    ) -> Imported:
        """Imports a file with one price per line, all or nothing.

        `lines`: a text, bytes, an open binary file, or an iterable of bytes; `gzip`: they are compressed; `replace`:
        removes all other prices, with `empty` even if no price is imported.
        """
        query = {"replace": replace or None, "empty": empty or None}
        return cast(Imported, await self._send_lines(lines, format, gzip, query, timeout))

    async def check(
        self,
        lines: AsyncLines,
        *,
        format: Format = "ndjson",
        gzip: bool = False,
        replace: bool = False,
        timeout: float | None = None,
    ) -> CheckReport:
        """Reports the problems of an import, and imports nothing."""
        query = {"check": True, "replace": replace or None}
        return cast(CheckReport, await self._send_lines(lines, format, gzip, query, timeout))

    async def _send_lines(
        self,
        lines: AsyncLines,
        format: Format,
        gzip: bool,
        query: dict[str, Any],
        timeout: float | None,
    ) -> Any:
        headers = {"content-type": MEDIA_TYPES[format], "content-encoding": "gzip" if gzip else None}
        content = to_async_chunks(lines)
        reply = await self._requester.send(
            "POST", "/prices/import", query=query, headers=headers, content=content, timeout=timeout
        )
        return reply.json()

    async def _search_part(
        self, path: str, searches: Sequence[bytes], number: int, timeout: float | None
    ) -> AsyncGenerator[BulkAnswer, None]:
        """Sends one bulk request. `number`: the number of searches before it."""
        options: Any = {"headers": {"content-type": NDJSON}, "content": b"".join(searches), "timeout": timeout}
        count = 0
        async with self._requester.stream("POST", path, **options) as reply:
            async for line in read_lines(reply):
                count += 1
                yield _to_answer(load_exact_json(line), number)
        if count < len(searches):
            raise ServiceError(200, "INCOMPLETE_REPLY", f"{count} answers to {len(searches)} searches")


def _to_path(index: str) -> str:
    return f"/v1/search/{to_segment(index)}/prices"


def _to_price_path(id: str) -> str:
    return f"/prices/{to_segment(id)}"


def _to_price(text: bytes) -> Price:
    return cast(Price, to_exact_price(load_exact_json(text)))


def _to_answer(fields: dict[str, Any], number: int) -> BulkAnswer:
    price, error = fields.get("price"), fields.get("error")
    return BulkAnswer(
        id=fields.get("id"),
        price=to_exact_price(price) if price else None,
        error=BulkError(error["code"], error["message"], error["item"] + number) if error else None,
    )
