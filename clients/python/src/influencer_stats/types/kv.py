"""Values, ranges and changes of kv."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its ETag for conditional writes."""

    value: bytes
    etag: str
    expires_at: int | None = None
    """Expiry time (ms since 1970)."""

    @property
    def text(self) -> str:
        """The value as UTF-8."""
        return self.value.decode()


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    value: bytes
    expires_at: int | None = None
    """Expiry time (ms since 1970)."""

    @property
    def text(self) -> str:
        """The value as UTF-8."""
        return self.value.decode()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a range."""

    entries: Sequence[Entry]
    next: str | None
    """Cursor of the next page; `None` on the last page."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """Expiry of a value; both fields are `None` if the value does not expire."""

    expires_at: int | None
    """Expiry time (ms since 1970)."""
    remaining: int | None
    """Time from the reply to the expiry (ms)."""


class PutChange(TypedDict):
    op: Literal["put"]
    id: str
    value: str | bytes
    ttl: NotRequired[int]
    """Time to expiry (s)."""


class DeleteChange(TypedDict):
    op: Literal["delete"]
    id: str


class ExpireChange(TypedDict):
    """Changes only the expiry, not the value."""

    op: Literal["expire"]
    id: str
    ttl: int | None
    """Time to expiry (s); `None` removes the expiry."""


Change = PutChange | DeleteChange | ExpireChange
"""A change of a batch."""


@dataclass(frozen=True, slots=True)
class WatchChange:
    """A change in a watch stream."""

    op: Literal["put", "delete", "expire"]
    id: str
    value: bytes | None = None
    """The new value of a put."""
    expires_at: int | None = None
    """Expiry time (ms since 1970)."""

    @property
    def text(self) -> str | None:
        """The value as UTF-8."""
        return None if self.value is None else self.value.decode()


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Changes that took effect together."""

    sequence: int
    changes: Sequence[WatchChange]
    """Changes in their order; empty if the stream only reports its sequence."""
