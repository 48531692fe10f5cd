"""Clients of the services stats, kv, sse and prices."""

from ._async.kv import AsyncKvClient
from ._async.prices import AsyncPricesClient
from ._async.sse import AsyncSseClient
from ._async.stats import AsyncStatsClient
from ._sync.kv import KvClient
from ._sync.prices import PricesClient
from ._sync.sse import SseClient
from ._sync.stats import StatsClient
from .errors import ServiceError
from .types.streams import GapEvent, StreamEvent, ValueEvent

__all__ = [
    "AsyncKvClient",
    "AsyncPricesClient",
    "AsyncSseClient",
    "AsyncStatsClient",
    "GapEvent",
    "KvClient",
    "PricesClient",
    "ServiceError",
    "SseClient",
    "StatsClient",
    "StreamEvent",
    "ValueEvent",
]
