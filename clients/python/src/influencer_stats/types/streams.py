"""Events of a stream of sse."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ValueEvent:
    """A value that was put to a topic."""

    id: str
    topic: str
    value: str
    kind: Literal["value"] = "value"


@dataclass(frozen=True, slots=True)
class GapEvent:
    """Some events after the last received one may be lost. The events that are still stored follow."""

    id: str
    kind: Literal["gap"] = "gap"


StreamEvent = ValueEvent | GapEvent
