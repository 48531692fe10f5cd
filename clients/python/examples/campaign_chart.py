"""Draws the history of a campaign, and the views of its videos, as a PNG file.

python campaign_chart.py COLLECTION chart.png --stats http://localhost:8080
"""

import argparse
from datetime import UTC, datetime, timedelta

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.ticker import EngFormatter, StrMethodFormatter

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
    matplotlib.rcParams["date.converter"] = "concise"
    figure, axes = plt.subplots(3, 1, figsize=(9, 9), height_ratios=(2, 2, 3), layout="constrained")
    whole_numbers = StrMethodFormatter("{x:,.0f}")
    # Views and engagements differ by orders of magnitude, so each has its own axis.
    views = [point["impressions"] for point in points] + [sums["impressions"]]
    engagements = [point["engagements"] for point in points] + [sums["engagements"]]
    for axis, title, values in ((axes[0], "views", views), (axes[1], "engagements", engagements)):
        axis.step(times, values, where="post")
        axis.set_title(title)
        axis.yaxis.set_major_formatter(whole_numbers)
        axis.grid(alpha=0.3)
    titles = [video.get("title", video["id"])[:40] for video in rows]
    bars = axes[2].barh(titles, [video.get("views", 0) for video in rows])
    axes[2].bar_label(bars, fmt="{:,.0f}", padding=4)
    axes[2].set_ylim(-0.5, max(len(rows), 4) - 0.5)
    axes[2].margins(x=0.15)
    axes[2].xaxis.set_major_formatter(EngFormatter(sep=""))
    axes[2].set_title("views by video")
    as_of = datetime.fromisoformat(sums["asOf"])
    figure.suptitle(f"{options.collection}, as of {as_of:%Y-%m-%d %H:%M} UTC{', stale' if sums['stale'] else ''}")
    figure.savefig(options.file)
    print(f"{options.file}: {len(points)} points, {len(videos['videos'])} videos, {sums['impressions']} impressions")


if __name__ == "__main__":
    main()
