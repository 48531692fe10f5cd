"""requests with sseclient-py. Arguments: `read URL TOPIC...` or `send URL TOPIC DATA`, as in client-program.ts."""

import json
import os
import sys
import time

import requests
import sseclient


def read(url: str, topics: list[str]) -> None:
    last_event_id = ""
    while True:
        headers = {"Accept": "text/event-stream"}
        if last_event_id:
            headers["Last-Event-ID"] = last_event_id
        try:
            with requests.get(url, params={"topic": topics}, headers=headers, stream=True) as response:
                response.raise_for_status()
                for event in sseclient.SSEClient(response).events():
                    last_event_id = event.id or last_event_id
                    print(json.dumps({"id": event.id, "event": event.event, "data": event.data}), flush=True)
        # The server restarts, or the connection was lost: requests reports the latter as a faulty chunk.
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            pass
        time.sleep(0.1)


def send(url: str, topic: str, data: str) -> None:
    headers = {"Authorization": f"Bearer {os.environ['MERCURE_JWT']}"}
    if url.endswith("/put"):
        response = requests.post(url, params={"topic": topic}, data=data.encode(), headers=headers)
    else:
        response = requests.post(url, data={"topic": topic, "data": data}, headers=headers)
    response.raise_for_status()
    print(json.dumps({"id": response.headers.get("event-id") or response.text}))


command, target, *rest = sys.argv[1:]
if command == "send":
    send(target, *rest)
else:
    read(target, rest)
