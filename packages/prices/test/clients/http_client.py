"""Client of prices on Python's `http.client`: prices-clients.slow.test.ts checks its output.

Like `requests` and most clients of other languages, it sends a whole body before it reads the reply.
"""

import http.client
import json
import sys
from decimal import Decimal
from urllib.parse import quote, urlencode

ITEMS = 100_000
JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
SEARCHES = "/v1/search/bitmap/prices"

connection = http.client.HTTPConnection(sys.argv[1], timeout=120)


def send(method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    connection.request(method, path, body, headers or {})
    reply = connection.getresponse()
    return reply.status, reply.read()


def parse(text: bytes) -> dict:
    return json.loads(text, parse_float=Decimal)


def to_conditions(price: dict) -> dict:
    return {name: price[name] for name in ("offeringId", "groupId", "priceSpecId", "charValues")}


prices = [
    {
        "id": f"Grüße/{number}%2F ü",
        "offeringId": "o1",
        "groupId": "g1",
        "priceSpecId": "MRC",
        "charValues": [{"char": "Straße", "value": f"№ {number}"}],
        "value": f"{number}.10",
    }
    for number in range(100)
]
file = "".join(f"{json.dumps(price, ensure_ascii=False)}\n" for price in prices).encode()
result: dict = {"imported": json.loads(send("POST", "/prices/import?replace=true", file, LINES)[1])}

found = [parse(send("POST", SEARCHES, json.dumps(to_conditions(price)).encode(), JSON)[1]) for price in prices]
result["found"] = sum(
    str(answer["value"]) == price["value"] and answer["id"] == price["id"] for answer, price in zip(found, prices)
)
missing = {**to_conditions(prices[0]), "minValue": 1000}
result["missing"] = send("POST", SEARCHES, json.dumps(missing).encode(), JSON)[0]
path = f"/prices/{quote(prices[7]['id'], safe='')}"
result["read"] = [str(parse(send("GET", path)[1])["value"]), send("DELETE", path)[0], send("GET", path)[0]]
result["put"] = send("PUT", path, json.dumps({key: prices[7][key] for key in prices[7] if key != "id"}).encode(), JSON)[0]

searches = [{"id": number, **to_conditions(prices[number % len(prices)])} for number in range(ITEMS)]
items = "\n".join(json.dumps(search) for search in searches).encode()
status, body = send("POST", "/v5/search/bitmap/bulk/prices", items, LINES)
answers = [parse(line) for line in body.splitlines()]
result["bulk"] = {
    "status": status,
    "answers": len(answers),
    "right": sum(
        answer["id"] == number and str(answer["price"]["value"]) == prices[number % len(prices)]["value"]
        for number, answer in enumerate(answers)
    ),
}

# An iterable is sent in chunks, without a length.
parts = (items[start : start + 100_000] for start in range(0, len(items), 100_000))
connection.request("POST", "/v5/search/bitmap/bulk/prices", parts, LINES)
reply = connection.getresponse()
result["chunked"] = reply.status == 200 and reply.read() == body

exported = send("GET", "/prices")[1]
csv = send("GET", "/prices?" + urlencode({"format": "csv"}))[1]
result["exported"] = len(exported.splitlines())
result["again"] = [
    json.loads(send("POST", "/prices/import?replace=true", copy, {"Content-Type": kind})[1])["imported"]
    for copy, kind in ((exported, "application/x-ndjson"), (csv, "text/csv"))
]
result["same"] = send("GET", "/prices")[1] == exported
# A refused body is also sent completely, and the connection goes on.
refused = send("POST", "/prices/import", file + b"no line\n" + file * 200, LINES)
result["refused"] = [refused[0], json.loads(refused[1])["code"]]
result["after"] = send("GET", path)[0]
print(json.dumps(result))
