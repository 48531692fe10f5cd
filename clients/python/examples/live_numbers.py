"""Prints the numbers of campaigns as they change. Continues after a lost connection.

python live_numbers.py --sse http://localhost:8083
"""

import argparse
import json

from influencer_stats import GapEvent, SseClient


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints the numbers of campaigns as they change.")
    parser.add_argument("collections", nargs="*", help="ids of collections; by default all")
    parser.add_argument("--sse", default="http://localhost:8083", help="URL of sse")
    parser.add_argument("--token", help="READ_TOKEN of the service, if it has one")
    parser.add_argument("--count", type=int, help="number of lines to print; by default no limit")
    options = parser.parse_args()

    topics = [f"collections/{id}" for id in options.collections]
    match = [] if topics else ["collections/*"]
    lines = 0
    with SseClient(options.sse, token=options.token) as sse:
        for event in sse.subscribe(topics=topics, match=match, last=True):
            if isinstance(event, GapEvent):
                print("some changes are lost; the current numbers follow", flush=True)
                continue
            numbers = json.loads(event.value)
            # A value without sums replaces one that no longer applies.
            if "impressions" in numbers:
                views, engagements = numbers["impressions"], numbers["engagements"]
                age = "stale" if numbers["stale"] else numbers["asOf"]
                print(f"{numbers['id']:40} {views:>15,} views {engagements:>12,} engagements  {age}", flush=True)
            else:
                print(f"{numbers['id']:40} has no numbers yet", flush=True)
            lines += 1
            if lines == options.count:
                return


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
