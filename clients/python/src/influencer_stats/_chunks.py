"""Bodies of requests that are sent in pieces."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import BinaryIO

CHUNK_BYTES = 65_536

Lines = str | bytes | BinaryIO | Iterable[bytes]
"""The bytes of a file of prices, or an open binary file."""

AsyncLines = Lines | AsyncIterable[bytes]


def to_chunks(lines: Lines) -> bytes | Iterator[bytes]:
    if isinstance(lines, str):
        return lines.encode()
    if isinstance(lines, (bytes, bytearray, memoryview)):
        return bytes(lines)
    return _iterate(lines)


def to_async_chunks(lines: AsyncLines) -> bytes | AsyncIterator[bytes]:
    if isinstance(lines, AsyncIterable):
        return aiter(lines)
    chunks = to_chunks(lines)
    return chunks if isinstance(chunks, bytes) else _iterate_async(chunks)


def _iterate(lines: BinaryIO | Iterable[bytes]) -> Iterator[bytes]:
    # A binary file would iterate over its lines.
    read = getattr(lines, "read", None)
    if read is None:
        yield from lines
        return
    while chunk := read(CHUNK_BYTES):
        yield chunk


async def _iterate_async(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk
