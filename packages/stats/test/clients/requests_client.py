"""Client of stats on `requests`: stats-clients.slow.test.ts checks its output."""

import csv
import io
import json
import sys
import time

import requests

URL = sys.argv[1]
SSE = sys.argv[2]
VIDEOS = ["-4lB5EKS5Uk", "goesviral26"]
session = requests.Session()
result: dict = {}

# An id needs no escapes; texts may have any characters.
campaign = f"{URL}/collections/spring~1"
created = session.put(campaign, json={"videos": VIDEOS, "name": "Frühling\u2028", "tags": ["Getränke"]})
result["created"] = [created.status_code, created.json()["name"], created.json()["videos"]]

stats = session.get(f"{campaign}/stats")
result["stats"] = [stats.status_code, stats.json()["videos"], stats.json()["missing"], stats.json()["stale"]]
# Waits for other numbers with conditional reads. The age of numbers alone changes the reply, too.
statuses = set()
latest = stats
deadline = time.monotonic() + 60
while latest.json()["impressions"] == stats.json()["impressions"] or 304 not in statuses:
    if time.monotonic() > deadline:
        break
    reply = session.get(f"{campaign}/stats", headers={"If-None-Match": latest.headers["etag"]})
    statuses.add(reply.status_code)
    latest = reply if reply.status_code == 200 else latest
    time.sleep(0.02)
result["changed"] = [latest.json()["impressions"] > stats.json()["impressions"], sorted(statuses)]

# Live: each value is one that stats publishes.
topic = {"topic": "collections/spring~1", "last": "1"}
lives: list[int] = []
empty = 0
with requests.get(f"{SSE}/wait", params=topic, stream=True) as stream:
    event: dict[str, str] = {}
    for line in stream.iter_lines(decode_unicode=True):
        if line:
            name, _, text = line.partition(": ")
            event[name] = text
            continue
        if "data" in event:
            numbers = json.loads(event["data"])
            # Numbers that are too old are published again, as stale ones.
            if not numbers["stale"]:
                lives.append(numbers["impressions"])
        elif event:
            empty += 1
        event = {}
        if len(lives) == 3:
            break
result["live"] = [lives == sorted(set(lives)), empty]

history = session.get(f"{campaign}/stats/history", params={"from": "2026-01-01T00:00:00+01:00", "step": 1})
result["history"] = [history.status_code, len(history.json()["points"]) > 0]
video = session.get(f"{campaign}/videos/goesviral26/history")
result["video"] = [video.status_code, "points" in video.json()]

exported = session.get(f"{campaign}/export", params={"format": "csv"})
rows = list(csv.DictReader(io.StringIO(exported.text.removeprefix("\ufeff"))))
result["export"] = [exported.status_code, [row["video"].removeprefix("'") for row in rows]]
result["names"] = session.get(f"{campaign}/export", params={"format": "json"}).json()["name"]

version = created.headers["etag"]
changes = [
    session.patch(campaign, json={"name": name}, headers={"If-Match": version}).status_code for name in ("Sommer", "no")
]
exists = session.put(campaign, json={"videos": []}, headers={"If-None-Match": "*"})
result["conditions"] = [*changes, exists.status_code, exists.json()["code"], session.get(campaign).json()["name"]]

for number in range(25):
    session.put(f"{URL}/collections/page-{number:02}", json={"videos": [], "name": f"Straße & Co {number}"})
pages: list[list[str]] = []
query = {"limit": "10", "q": "straße &", "sort": "-name"}
while True:
    page = session.get(f"{URL}/collections", params=query).json()
    pages.append([one["id"] for one in page["collections"]])
    if "next" not in page:
        break
    query["after"] = page["next"]
result["pages"] = [[len(page) for page in pages], len({id for page in pages for id in page})]

added = session.put(f"{campaign}/videos/-jlLkTtgWUk")
removed = [session.delete(f"{campaign}/videos/-jlLkTtgWUk").status_code for _ in range(2)]
deleted = [session.delete(campaign).status_code for _ in range(2)]
result["deleted"] = [added.status_code, *removed, *deleted, session.get(f"{campaign}/stats").status_code]
print(json.dumps(result))
