"""Client of kv on `requests`: kv-clients.slow.test.ts describes its commands."""

import base64
import json
import sys
from typing import Any
from urllib.parse import unquote

import requests

URL = sys.argv[1]
session = requests.Session()


def reply_with(reply: dict[str, Any]) -> None:
    print(json.dumps(reply), flush=True)


def entity(method: str, command: dict[str, Any]) -> None:
    names = {"ifMatch": "If-Match", "ifNoneMatch": "If-None-Match"}
    headers = {header: command[name] for name, header in names.items() if name in command}
    body = base64.b64decode(command["value"]) if "value" in command else None
    reply = session.request(method, f"{URL}/v0/entity", params={"id": command["id"]}, headers=headers, data=body)
    value = base64.b64encode(reply.content).decode()
    reply_with({"status": reply.status_code, "etag": reply.headers.get("etag"), "value": value})


def page(command: dict[str, Any]) -> None:
    names = ("prefix", "limit", "cursor")
    reply = session.get(f"{URL}/v0/entities", params={name: command[name] for name in names if name in command})
    lines = [json.loads(line) for line in reply.iter_lines()]
    following = reply.headers.get("next")
    cursor = unquote(following) if following is not None else None
    reply_with({"status": reply.status_code, "lines": lines, "next": cursor})


def watch(command: dict[str, Any]) -> None:
    names = ("prefix", "after", "progress")
    params = {name: command[name] for name in names if name in command}
    with requests.get(f"{URL}/v0/watch", params=params, stream=True) as reply:
        reply_with({"status": reply.status_code})
        block: dict[str, str] = {}
        try:
            for line in reply.iter_lines(decode_unicode=True):
                if line.startswith(":"):
                    continue
                if line:
                    name, _, text = line.partition(": ")
                    block[name] = text
                elif block:
                    reply_with(block)
                    block = {}
        except requests.exceptions.RequestException:
            pass
        reply_with({"end": "the stream has ended"})


for line in sys.stdin:
    command = json.loads(line)
    match command["do"]:
        case "watch":
            watch(command)
        case "page":
            page(command)
        case method:
            entity(method, command)
