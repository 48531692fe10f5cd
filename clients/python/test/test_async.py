import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from decimal import Decimal

import anyio
import pytest

from conftest import Urls
from influencer_stats import AsyncKvClient, AsyncPricesClient, AsyncSseClient, AsyncStatsClient, ValueEvent
from influencer_stats.types.prices import PriceBody, Search
from relay import Relay


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_stream_resumes(urls: Urls, backend: str) -> None:
    if backend == "trio":
        pytest.importorskip("trio")

    async def main() -> None:
        async with AsyncSseClient(urls["sse"]) as writer, AsyncSseClient(relay.url) as reader:
            await writer.put("0", topic=backend)
            async with aclosing(reader.subscribe(topics=[backend], last=True)) as events:
                for number in range(5):
                    event = await anext(events)
                    assert isinstance(event, ValueEvent) and event.value == str(number)
                    if number == 2:
                        relay.cut()
                    await writer.put(str(number + 1), topic=backend)

    with Relay(urls["sse"]) as relay:
        anyio.run(main, backend=backend)
    assert relay.connections > 1


def test_cancelled_stream(urls: Urls) -> None:
    async def read(client: AsyncSseClient) -> None:
        async for _ in client.subscribe(topics=["silent"]):
            raise AssertionError

    async def main() -> None:
        async with AsyncSseClient(urls["sse"]) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(read(client), 0.2)
            # The client still works.
            assert await client.get_value(topic="silent") is None

    asyncio.run(main())


def test_watch(urls: Urls) -> None:
    async def main() -> None:
        async with AsyncKvClient(urls["kv"]) as kv, aclosing(kv.watch(prefix="async/")) as sets:
            assert (await anext(sets)).changes == []
            etag = await kv.put("async/1", "1", if_none_match="*")
            (change,) = (await anext(sets)).changes
            assert (change.op, change.id, change.text) == ("put", "async/1", "1")
            values = await asyncio.gather(*(kv.get("async/1") for _ in range(200)))
            assert {value.etag for value in values if value} == {etag}
            assert [entry.id async for entry in kv.entries(prefix="async/")] == ["async/1"]

    asyncio.run(main())


def test_stats_and_prices(urls: Urls) -> None:
    price: PriceBody = {
        "id": "async",
        "offeringId": "async",
        "groupId": "g",
        "priceSpecId": "MRC",
        "charValues": [],
        "value": Decimal("1.10"),
    }

    async def main() -> None:
        async with AsyncStatsClient(urls["stats"]) as stats, AsyncPricesClient(urls["prices"]) as prices:
            await stats.put("async", {"videos": [], "tags": ["async"]})
            assert [one["id"] async for one in stats.list_all(tag="async")] == ["async"]
            await prices.put(price)
            conditions = {"offeringId": "async"}
            lines = b"".join([chunk async for chunk in prices.export()])

            async def send() -> AsyncIterator[bytes]:
                yield lines[:20]
                yield lines[20:]

            for source in (send(), lines, [lines]):
                await prices.import_prices(source)
                assert [str(one["value"]) async for one in prices.search_all(conditions)] == ["1.10"]

            async def find() -> AsyncIterator[Search]:
                for id in range(3):
                    yield {"offeringId": "async", "groupId": "g", "priceSpecId": "MRC", "charValues": [], "id": id}

            assert [(one.id, one.error) async for one in prices.search_many(find())] == [
                (0, None),
                (1, None),
                (2, None),
            ]
            assert await prices.delete("async")

    asyncio.run(main())
