"""Draws the history of a campaign, and the views of its videos, as a PNG file.

python campaign_chart.py COLLECTION chart.png --stats http://localhost:8080
"""

import argparse
from datetime import UTC, datetime, timedelta

import matplotlib
import matplotlib.pyplot as plt

from influencer_stats import StatsClient

MAX_VIDEOS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws the history of a campaign, and the views of its videos.")
    parser.add_argument("collection", help="id of the collection")
    parser.add_argument("file", help="PNG file to write")
    parser.add_argument("--stats", default="http://localhost:8080", help="URL of stats")
    parser.add_argument("--days", type=int, default=30, help="length of the period (days)")
    options = parser.parse_args()

    with StatsClient(options.stats) as stats:
        start = datetime.now(UTC) - timedelta(days=options.days)
        sums = stats.get_stats(options.collection)
        points = stats.get_history(options.collection, start=start)
        videos = stats.list_videos(options.collection)
    if sums is None or points is None or videos is None:
        raise SystemExit(f"there is no collection {options.collection}")

    # The history has a point for each change, so the current sums are its end.
    times = [datetime.fromisoformat(point["at"]) for point in points] + [datetime.now(UTC)]
    rows = sorted(videos["videos"], key=lambda video: video.get("views", 0))[-MAX_VIDEOS:]

    matplotlib.use("Agg")
    figure, (history, bars) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained")
    for name in ("impressions", "engagements"):
        values = [point[name] for point in points] + [sums[name]]
        history.step(times, values, where="post", label=name)
    history.set_yscale("symlog")
    history.legend()
    history.tick_params(axis="x", rotation=30)
    history.set_title(f"{options.collection}: as of {sums['asOf']}{', stale' if sums['stale'] else ''}")
    bars.barh([video.get("title", video["id"])[:40] for video in rows], [video.get("views", 0) for video in rows])
    bars.set_title("views by video")
    figure.savefig(options.file)
    print(f"{options.file}: {len(points)} points, {len(videos['videos'])} videos, {sums['impressions']} impressions")


if __name__ == "__main__":
    main()
