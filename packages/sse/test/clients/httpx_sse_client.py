"""httpx with httpx-sse. Arguments: `read URL TOPIC...` or `send URL TOPIC DATA`, as in client-program.ts."""

import json
import os
import sys
import time

import httpx
from httpx_sse import connect_sse

# By default httpx gives up after 5 s without a byte, which is less than the interval of heartbeats.
TIMEOUT = httpx.Timeout(5, read=60)


def read(url: str, topics: list[str]) -> None:
    last_event_id = ""
    with httpx.Client(timeout=TIMEOUT) as client:
        while True:
            headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
            try:
                with connect_sse(client, "GET", url, params={"topic": topics}, headers=headers) as source:
                    source.response.raise_for_status()
                    for event in source.iter_sse():
                        last_event_id = event.id
                        print(json.dumps({"id": event.id, "event": event.event, "data": event.data}), flush=True)
            except httpx.TransportError:
                pass
            time.sleep(0.1)


def send(url: str, topic: str, data: str) -> None:
    headers = {"Authorization": f"Bearer {os.environ['MERCURE_JWT']}"}
    if url.endswith("/put"):
        response = httpx.post(url, params={"topic": topic}, content=data, headers=headers)
    else:
        response = httpx.post(url, data={"topic": topic, "data": data}, headers=headers)
    response.raise_for_status()
    print(json.dumps({"id": response.headers.get("event-id") or response.text}))


command, target, *rest = sys.argv[1:]
if command == "send":
    send(target, *rest)
else:
    read(target, rest)
