"""Refusals of a service."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ._json import to_exact_price

TOO_MANY_REQUESTS = 429


class ServiceError(Exception):
    """The refusal of a request: the status of the reply, and the code and detail of its problem.

    `code` is stable; the README of each service lists its codes. A reply that is not from the service has the code
    `UNEXPECTED_REPLY`, and a redirect `UNEXPECTED_REDIRECT`. A lost connection or a timeout is an error of httpx.
    """

    status: int
    code: str
    detail: str | None
    body: Mapping[str, Any]
    """The whole problem; empty if the service sent none."""
    retry_after: int | None
    """Time after which the service accepts the request again, from the header `Retry-After` (s)."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str | None = None,
        *,
        detail: str | None = None,
        body: Mapping[str, Any] | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}" if message else f"{code} (status {status})")
        self.status = status
        self.code = code
        self.detail = detail
        self.body = body or {}
        self.retry_after = retry_after

    @property
    def is_permanent(self) -> bool:
        """True if a later request would be refused, too."""
        return self.status < 500 and self.status != TOO_MANY_REQUESTS


REDIRECTED = (
    "the service responded with a redirect. Clients do not follow it, because another address would receive the token: "
    "use the service's final address"
)


def to_service_error(status: int, content: bytes, retry_after: str | None) -> ServiceError:
    """Parses a reply whose status is not 2xx."""
    seconds = int(retry_after) if re.fullmatch(r"[0-9]{1,6}", retry_after or "") and retry_after else None
    if 300 <= status < 400:
        return ServiceError(status, "UNEXPECTED_REDIRECT", REDIRECTED)
    try:
        body = json.loads(content, parse_float=Decimal)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("code"), str):
        return ServiceError(status, "UNEXPECTED_REPLY", retry_after=seconds)
    for candidate in body.get("candidates", []):
        to_exact_price(candidate)
    detail = body.get("detail")
    message = detail or body.get("title")
    return ServiceError(status, body["code"], message, detail=detail, body=body, retry_after=seconds)
