"""Bodies of requests that are sent in pieces."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import BinaryIO, TypeVar

CHUNK_BYTES = 65_536

T = TypeVar("T")

Lines = str | bytes | BinaryIO | Iterable[bytes]
"""The bytes of a file of prices, or an open binary file."""

AsyncLines = Lines | AsyncIterable[bytes]


def iterate(items: Iterable[T]) -> Iterator[T]:
    return iter(items)


async def iterate_async(items: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item


def to_chunks(lines: Lines) -> bytes | Iterator[bytes]:
    if isinstance(lines, str):
        return lines.encode()
    if isinstance(lines, (bytes, bytearray, memoryview)):
        return bytes(lines)
    return _read(lines)


def to_async_chunks(lines: AsyncLines) -> bytes | AsyncIterator[bytes]:
    if isinstance(lines, AsyncIterable):
        return aiter(lines)
    chunks = to_chunks(lines)
    return chunks if isinstance(chunks, bytes) else iterate_async(chunks)


def _read(lines: BinaryIO | Iterable[bytes]) -> Iterator[bytes]:
    # A binary file would iterate over its lines.
    read = getattr(lines, "read", None)
    if read is None:
        yield from lines
        return
    while chunk := read(CHUNK_BYTES):
        yield chunk
