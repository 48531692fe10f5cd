import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from influencer_stats import ServiceError, StatsClient
from influencer_stats.types.stats import Sums

VIDEOS = ["-4lB5EKS5Uk", "-jlLkTtgWUk", "1FEFpk-uIYo"]
T = TypeVar("T")


def wait_for(read: Callable[[], T | None]) -> T:
    """Repeats a read until its value is true: the service reads the numbers of a new collection after its reply."""
    for _ in range(100):
        if value := read():
            return value
        time.sleep(0.1)
    raise AssertionError("nothing within 10 s")


def test_collections(stats: StatsClient) -> None:
    made = stats.put("spring", {"videos": VIDEOS, "name": "Spring", "from": "2026-03-01", "tags": ["drinks"]})
    assert made["videos"] == VIDEOS
    with pytest.raises(ServiceError) as refusal:
        stats.put("spring", {"videos": []}, if_absent=True)
    assert (refusal.value.code, refusal.value.status) == ("CONDITION_FAILED", 412)
    changed = stats.patch("spring", {"name": "Early spring", "from": None}, if_version=made["version"])
    assert changed is not None and changed["name"] == "Early spring" and "from" not in changed
    with pytest.raises(ServiceError, match="CONDITION_FAILED"):
        stats.patch("spring", {"name": "Late"}, if_version=made["version"])
    assert stats.add_video("spring", "https://youtu.be/goesviral26") == [*VIDEOS, "goesviral26"]
    assert stats.remove_video("spring", "goesviral26")
    assert not stats.remove_video("spring", "goesviral26")

    def read_sums() -> Sums | None:
        found = stats.get("spring", include=["change", "stats"])
        return found["stats"] if found and "stats" in found else None

    assert wait_for(read_sums)["videos"] == 3
    copy = stats.duplicate("spring", name="Copy")
    assert copy is not None and copy["name"] == "Copy" and copy["videos"] == VIDEOS
    assert stats.delete(copy["id"]) and stats.delete_for_good(copy["id"])
    assert stats.duplicate("none") is None
    assert stats.delete("spring")
    assert not stats.delete("spring")
    assert not stats.bulk(["spring"], {"addTags": ["x"]})[0]["changed"]
    assert [row["id"] for row in stats.list_trash(limit=1)["collections"]] == ["spring"]
    assert stats.bulk(["spring"], {"restored": True})[0]["changed"]
    assert stats.bulk(["spring"], {"archived": True}, versions={"spring": "1"})[0]["code"] == "CONDITION_FAILED"
    assert stats.bulk(["spring"], {"archived": True})[0]["changed"]
    assert stats.list(archived="true", offset=0)["total"] == 1
    assert stats.bulk(["spring"], {"deleted": True})[0]["changed"]
    restored = stats.restore("spring")
    assert restored is not None and restored["videos"] == VIDEOS
    assert stats.restore("spring") is None
    assert stats.delete("spring", if_version=restored["version"])
    assert stats.delete_for_good("spring")
    assert not stats.delete_for_good("spring")


def test_posts(stats: StatsClient) -> None:
    stats.put("posts", {"videos": []})
    post = stats.add_post("posts", {"url": "https://x.com/a/status/12345?s=20"})
    assert post is not None and post["id"] == "x-12345"
    reported = stats.report_numbers("posts", "x-12345", {"views": 7})
    assert reported is not None and reported["points"] == 1
    imported = stats.import_numbers("posts", "post id,views,at\nx-12345,8,2026-01-01\n")
    assert imported is not None and imported["stored"] == 1
    numbers = stats.list_numbers("posts", "x-12345")
    assert numbers is not None and [one.get("views") for one in numbers["numbers"]] == [8, 7]
    history = stats.get_reported_history("posts")
    assert history is not None and [one.get("impressions") for one in history["points"]] == [8, 7]
    assert stats.delete_numbers("posts", "x-12345", datetime(2026, 1, 1, tzinfo=UTC))
    assert not stats.delete_numbers("posts", "x-12345", "2026-01-01T00:00:00Z")
    assert stats.delete_post("posts", "x-12345")
    assert not stats.delete_post("posts", "x-12345")
    assert stats.list_posts("posts") == []
    assert stats.put_post("posts", "p", {"url": "https://x.com/a/status/12345"}) is not None


def test_misses(stats: StatsClient) -> None:
    for miss in (
        stats.get("none"),
        stats.get(".."),
        stats.patch("none", {"name": "x"}),
        stats.add_video("none", VIDEOS[0]),
        stats.get_stats("none"),
        stats.get_history("none"),
        stats.list_videos("none"),
        stats.get_video_history("none", VIDEOS[0]),
        stats.export("none", "csv"),
    ):
        assert miss is None


def test_pages(stats: StatsClient) -> None:
    for number in range(5):
        stats.put(f"page-{number}", {"videos": [], "tags": ["paged"]})
    first = stats.list(tag="paged", limit=2)
    assert [one["id"] for one in first["collections"]] == ["page-0", "page-1"]
    second = stats.list(tag="paged", limit=2, after=first["next"])
    assert [one["id"] for one in second["collections"]] == ["page-2", "page-3"]
    assert len(list(stats.list_all(tag="paged", sort="-impressions", include=["stats"]))) == 5


def test_numbers(stats: StatsClient) -> None:
    stats.put("summer", {"videos": VIDEOS, "name": "Sommer – été"})
    sums = stats.get_stats("summer", by_video=True)
    assert sums is not None
    assert sums["impressions"] == sum(video["views"] for video in sums["byVideo"])
    assert sums["source"] == "stand-in"
    now = datetime.now(UTC)
    day = timedelta(days=1)
    points = wait_for(lambda: stats.get_history("summer", start=now - day, end=now + day, step=1))
    assert points[0]["videos"] == 3
    results = stats.get_results("summer", start=now.date(), end=now + timedelta(days=1), zone="Europe/Berlin")
    assert results is not None and results["state"] == "running"
    assert stats.get_results("none") is None
    videos = stats.list_videos("summer")
    assert videos is not None and {video["id"] for video in videos["videos"]} == set(VIDEOS)
    assert stats.get_video_history("summer", VIDEOS[0]) is not None
    csv = stats.export("summer", "csv")
    assert csv is not None and not csv.startswith("\ufeff") and VIDEOS[2] in csv
    exported = stats.export("summer", "json")
    assert exported is not None and "été" in exported
    assert stats.get_upstream()["state"] == "ok"


def test_errors(stats: StatsClient) -> None:
    with pytest.raises(ServiceError) as refusal:
        stats.list(limit=0)
    error = refusal.value
    assert (error.code, error.status, error.retry_after, error.is_permanent) == ("VALIDATION_FAILED", 400, None, True)
    assert error.detail and error.body["type"]
