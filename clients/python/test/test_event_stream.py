import pytest

from influencer_stats._event_stream import Block, EventStreamParser, LineParser

STREAM = (
    b":\n\n: comment\n\nretry: 1500\nid: e-1\n\n"
    b"id: e-2\r\nevent: gap\r\ndata:\r\n\r\n"
    b"id: e-3\ndata: a\xe2\x80\xa8b\xc2\x85c\ndata:  d\n\n"
    b"data\n\nunknown: x\n\ndata: incomplete"
)
BLOCKS = [
    Block(),
    Block(),
    Block(id="e-1", retry=1.5),
    Block(id="e-2", event="gap", data=""),
    Block(id="e-3", data="a\u2028b\u0085c\n d"),
    Block(data=""),
    Block(),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_blocks_do_not_depend_on_the_pieces(size: int) -> None:
    parser = EventStreamParser()
    pieces = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    assert [block for piece in pieces for block in parser.feed(piece)] == BLOCKS


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_lines_do_not_depend_on_the_pieces(size: int) -> None:
    text = "a\u2028b\n\nc\u0085\nd".encode()
    parser = LineParser()
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    lines = [line for piece in pieces for line in parser.feed(piece)] + list(parser.end())
    assert lines == ["a\u2028b".encode(), "c\u0085".encode(), b"d"]
