"""Paths and queries of requests."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from urllib.parse import quote, urlencode

Parameter = str | int | bool | Decimal | datetime | None
Query = Mapping[str, "Parameter | Iterable[str]"]


def to_segment(text: str) -> str:
    """Returns a text as one segment of a path."""
    # Clients remove the segments `.` and `..`, so their dots are encoded.
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")


def to_query(query: Query) -> str:
    """Returns a query string. `None` omits a parameter; several texts repeat it."""
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        if value is None:
            continue
        if isinstance(value, (str, int, Decimal, datetime)):
            pairs.append((name, _to_text(value)))
        else:
            pairs.extend((name, item) for item in value)
    return urlencode(pairs, quote_via=quote, safe="")


def _to_text(value: str | int | Decimal | datetime) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        # A time without a zone is a local time.
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value)
