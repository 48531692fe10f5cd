"""JSON with exact decimals."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

EXACT_FIELDS = ("value", "minValue", "maxValue")


def dump_json(value: Any) -> bytes:
    """Returns JSON in UTF-8. A `Decimal` becomes a number with the same digits."""
    try:
        return _dump(value).encode()
    except TypeError:
        # The encoder of the standard library is faster, but knows no `Decimal`.
        return _dump_exact(value).encode()


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _dump_exact(value: Any) -> str:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} cannot be sent as JSON")
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_dump(str(key))}:{_dump_exact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_dump_exact, value)) + "]"
    return _dump(value)


def load_exact_json(text: bytes | str) -> Any:
    """Parses JSON whose numbers with a fraction or an exponent become a `Decimal`."""
    return json.loads(text, parse_float=Decimal)


def to_exact_price(price: dict[str, Any]) -> Any:
    """Makes the value of a price a `Decimal`, also in its candidates."""
    if "value" in price:
        price["value"] = Decimal(price["value"])
    for candidate in price.get("candidates", []):
        to_exact_price(candidate)
    return price


def require_exact(fields: Mapping[str, Any]) -> None:
    """Raises a `TypeError` if a value of a price is a float, because a float has lost digits."""
    for name in EXACT_FIELDS:
        if isinstance(fields.get(name), float):
            raise TypeError(f"{name}: a float is not exact; use a Decimal, an int or a text")
