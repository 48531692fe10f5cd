"""Answers of a bulk search of prices."""

from dataclasses import dataclass
from decimal import Decimal

from .prices import SearchAnswer


@dataclass(frozen=True, slots=True)
class BulkError:
    code: str
    message: str
    item: int
    """Number of the search, from 1."""


@dataclass(frozen=True, slots=True)
class BulkAnswer:
    """The answer to one search: a price, or the reason why there is none."""

    id: str | int | Decimal | None
    """The `id` of the search."""
    price: SearchAnswer | None
    error: BulkError | None
