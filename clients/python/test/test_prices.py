import gzip
import io
from collections.abc import Iterator
from decimal import Decimal

import pytest

from influencer_stats import PricesClient, ServiceError
from influencer_stats.types.prices import PriceBody, Search

# A float would change each of them.
DIGITS = ["1.10", "9007199254740993", "0.1000000000000000055511151231257827", "-0.00", "12345678901234567890.1234", "0"]


def to_body(number: int, value: str, term: str = "12") -> PriceBody:
    conditions = {"offeringId": f"o{number}", "groupId": "g1", "priceSpecId": "MRC"}
    return {"id": f"p{number}", **conditions, "charValues": [{"char": "Term", "value": term}], "value": Decimal(value)}  # type: ignore[typeddict-item]


def to_search(number: int) -> Search:
    values: Search = {"offeringId": f"o{number}", "groupId": "g1", "priceSpecId": "MRC", "charValues": []}
    return values


@pytest.fixture
def catalog(prices: PricesClient) -> Iterator[PricesClient]:
    for number, value in enumerate(DIGITS):
        prices.put(to_body(number, value))
    yield prices
    for price in list(prices.list()):
        prices.delete(price["id"])


def test_values_keep_their_digits(catalog: PricesClient) -> None:
    for number, value in enumerate(DIGITS):
        price = catalog.get(f"p{number}")
        found = catalog.search(to_search(number))
        assert price is not None and found is not None
        for one in (price["value"], found["value"]):
            assert type(one) is Decimal and one == Decimal(value)
    assert str(catalog.search(to_search(0))["value"]) == "1.10"  # type: ignore[index]
    listed = [price["value"] for price in catalog.list()]
    assert sorted(listed) == sorted(map(Decimal, DIGITS)) and {type(one) for one in listed} == {Decimal}
    catalog.put({**to_body(0, "0"), "value": Decimal("1.5E+3")})
    assert catalog.get("p0")["value"] == 1500  # type: ignore[index]


def test_floats_are_refused(catalog: PricesClient) -> None:
    with pytest.raises(TypeError, match="not exact"):
        catalog.put({**to_body(0, "0"), "value": 1.1})  # type: ignore[typeddict-item]
    with pytest.raises(TypeError, match="not exact"):
        catalog.patch("p0", {"value": 1.1})  # type: ignore[typeddict-item]


def test_changes_and_misses(catalog: PricesClient) -> None:
    assert catalog.get("none") is None
    assert catalog.search({**to_search(0), "minValue": "2"}) is None
    with pytest.raises(ServiceError, match="OFFERING_NOT_FOUND"):
        catalog.search(to_search(99))
    patched = catalog.patch("p0", {"value": Decimal("2.50"), "to": "2026-12-31"})
    assert patched is not None and str(patched["value"]) == "2.50" and patched["to"] == "2026-12-31"
    assert catalog.patch("none", {"value": 1}) is None
    catalog.put({**to_body(7, "1"), "id": "ä/ b"})
    assert catalog.get("ä/ b") is not None
    assert catalog.delete("ä/ b") and not catalog.delete("ä/ b")


def test_delete_where(catalog: PricesClient) -> None:
    conditions = {"charValues": [{"char": "Term", "value": "12"}], "minValue": Decimal("1.10")}
    assert catalog.delete_where(conditions) == {"matched": 3, "deleted": 0}
    with pytest.raises(ServiceError, match="MATCH_COUNT"):
        catalog.delete_where(conditions, dry_run=False, expected=2)
    assert catalog.delete_where(conditions, dry_run=False, expected=3) == {"matched": 3, "deleted": 3}
    assert len(list(catalog.list())) == len(DIGITS) - 3
    with pytest.raises(ServiceError, match="CONDITION_MISSING"):
        catalog.delete_where({})


def test_ambiguous(catalog: PricesClient) -> None:
    catalog.put({**to_body(0, "3.30", "24"), "id": "other"})
    with pytest.raises(ServiceError) as refusal:
        catalog.search(to_search(0))
    assert (refusal.value.code, refusal.value.status) == ("PRICES_AMBIGUOUS", 409)
    assert [str(price["value"]) for price in refusal.value.body["candidates"]] == ["3.30", "1.10"]


def test_search_all(catalog: PricesClient) -> None:
    found = list(catalog.search_all({"groupId": "g1"}, sort="-value", limit=2))
    assert [price["value"] for price in found] == [Decimal(DIGITS[4]), Decimal(DIGITS[1])]
    last = found[-1]
    rest = list(catalog.search_all({"groupId": "g1"}, sort="-value", after=last["id"], after_value=last["value"]))
    assert len(rest) == len(DIGITS) - 2
    assert list(catalog.search_all({"minValue": Decimal("1.1"), "maxValue": "1.1"}))[0]["id"] == "p0"


def test_search_many(catalog: PricesClient) -> None:
    searches: Iterator[Search] = ({**to_search(number % 7), "id": number} for number in range(4_500))
    answers = list(catalog.search_many(searches))
    assert [answer.id for answer in answers] == list(range(4_500))
    for number, answer in enumerate(answers):
        if number % 7 == 6:
            assert answer.error is not None and answer.price is None
            assert answer.error.code.endswith("NOT_FOUND") and answer.error.item == number + 1
        else:
            assert answer.error is None and answer.price is not None
            assert answer.price["value"] == Decimal(DIGITS[number % 7])
    assert list(catalog.search_many([])) == []
    # An interrupted bulk request must not shift the answers of the next one.
    bad: list[Search] = [{**to_search(0), "id": "a"}, {"id": "b"}, {**to_search(1), "id": "c"}]  # type: ignore[typeddict-item]
    assert [answer.error is None for answer in catalog.search_many(bad)] == [True, False, True]


def test_numbers_in_conditions(catalog: PricesClient) -> None:
    for number, speed in enumerate(("1.5 Mbps", "10 Mbps", "100 Mbps")):
        catalog.put({**to_body(10 + number, "1"), "charValues": [{"char": "Speed", "value": speed}]})
    speeds: list[Search] = [
        {**to_search(10 + number), "charValues": [{"char": "Speed", "op": "between", "value": [Decimal("1.5"), 10]}]}
        for number in range(3)
    ]
    found = list(catalog.search_many({**search, "id": Decimal(f"{number}.10")} for number, search in enumerate(speeds)))
    assert [answer.price is not None for answer in found] == [True, True, False]
    assert [str(answer.id) for answer in found] == ["0.10", "1.10", "2.10"]
    with pytest.raises(ValueError):
        catalog.put({**to_body(0, "0"), "value": Decimal("NaN")})


def test_facets(catalog: PricesClient) -> None:
    conditions = [{"char": "Term", "value": "12"}]
    facets = catalog.get_facets(group_id="g1", char_values=conditions, range=True, min_value=Decimal("1.10"))
    assert facets["count"] == 3
    assert facets["range"][0]["min"] == Decimal("1.10") and type(facets["range"][0]["max"]) is Decimal
    values = catalog.get_facets(facet="offerings", limit=1, at="now")["offerings"]
    assert values["values"][0]["count"] == 1 and values["next"]


@pytest.mark.parametrize("format", ["ndjson", "csv"])
def test_export_and_import(catalog: PricesClient, format: str) -> None:
    exported = b"".join(catalog.export(format=format))  # type: ignore[arg-type]
    before = list(catalog.list())
    options = {"format": format, "replace": True}
    sources = [exported, exported.decode(), io.BytesIO(exported), [exported[:9], exported[9:]]]
    for source in sources:
        result = catalog.import_prices(source, **options)  # type: ignore[arg-type]
        assert result == {"imported": len(DIGITS), "prices": len(DIGITS)}
        assert list(catalog.list()) == before
    assert catalog.import_prices(gzip.compress(exported), gzip=True, format=format)["imported"] == len(DIGITS)  # type: ignore[arg-type]
    assert [price["id"] for price in catalog.list(after="p3", limit=1)] == ["p4"]


def test_check(catalog: PricesClient) -> None:
    lines = b"".join(catalog.export())
    report = catalog.check(lines + lines.splitlines(keepends=True)[0])
    assert [problem["code"] for problem in report["problems"]] == ["REPEATED_ID"]
    with pytest.raises(ServiceError) as refusal:
        catalog.import_prices("{}\n")
    assert refusal.value.status == 400
    assert len(list(catalog.list())) == len(DIGITS)
