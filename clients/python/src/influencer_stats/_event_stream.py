"""Parser of event streams and of lines."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

# Unlike `str.splitlines`, these are the only line ends of an event stream: a value may contain others, such as U+2028.
LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(slots=True)
class Block:
    """A block of an event stream. Without data, it is no event: it may have an id, a reconnection time or comments."""

    id: str | None = None
    event: str | None = None
    data: str | None = None
    retry: float | None = None
    """Reconnection time (s)."""


class EventStreamParser:
    """Parses the bytes of an event stream, in pieces of any size."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._pieces: list[str] = []
        self._lines: list[str] = []

    def feed(self, data: bytes) -> Iterator[Block]:
        """Yields the blocks that are complete."""
        text = self._decoder.decode(data)
        if "\n" not in text and "\r" not in text:
            self._pieces.append(text)
            return
        text = "".join((*self._pieces, text))
        # The other half of CRLF may follow.
        held = text.endswith("\r")
        *lines, rest = LINE_END.split(text[:-1] if held else text)
        self._pieces = [rest + "\r"] if held else [rest]
        for line in lines:
            if line:
                self._lines.append(line)
            elif self._lines:
                block = _parse_block(self._lines)
                self._lines = []
                yield block


def _parse_block(lines: list[str]) -> Block:
    block = Block()
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "data":
                block.data = value if block.data is None else f"{block.data}\n{value}"
            case "id" if "\0" not in value:
                block.id = value
            case "event":
                block.event = value
            case "retry" if re.fullmatch(r"[0-9]{1,9}", value):
                block.retry = int(value) / 1000
    return block


class LineParser:
    """Splits the bytes of NDJSON into lines, in pieces of any size."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the lines that are complete."""
        first, *others = data.split(b"\n")
        self._pieces.append(first)
        for other in others:
            yield from self.end()
            self._pieces = [other]

    def end(self) -> Iterator[bytes]:
        """Yields the last line, which need not have a line end."""
        line = b"".join(self._pieces)
        self._pieces = []
        if line.strip():
            yield line
