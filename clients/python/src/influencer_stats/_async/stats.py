"""Asynchronous client of stats."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, cast

from .._urls import to_segment
from ..types.stats import (
    BulkResult,
    BulkResults,
    ChangeOfACollection,
    Collection,
    Collections,
    CollectionWithItsNumbers,
    DeletionOfCollections,
    EditOfCollections,
    HistoryOfReportedSums,
    HistoryPoint,
    ImportedNumbers,
    ImportOfCampaigns,
    NewCollection,
    NewNumbersOfAPost,
    NewPost,
    NumbersOfAPost,
    Post,
    Preview,
    RestorationOfCollections,
    Results,
    Statistics,
    Trash,
    Upstream,
    Videos,
)
from .requester import AsyncServiceClient

XLSX_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MISSES = ("COLLECTION_NOT_FOUND", "VIDEO_NOT_IN_COLLECTION", "NOT_IN_TRASH", "POST_NOT_FOUND", "NUMBERS_NOT_FOUND")

Include = Sequence[Literal["stats", "change"]]
"""Additions to each collection of a reply."""

Archived = Literal["true", "false", "any"]
"""The archive only, the other collections only (the default), or both."""


class AsyncStatsClient(AsyncServiceClient):
    """Asynchronous client of a service `stats`.

    A collection or a video that does not exist is `None`, or `False` where it is deleted. Requests and replies have
    the fields of the API; their times are texts. Any other refusal is a `ServiceError`.
    """

    async def list(
        self,
        *,
        include: Include = (),
        sort: str | None = None,
        q: str | None = None,
        tag: str | None = None,
        archived: Archived | None = None,
        limit: int | None = None,
        offset: int | None = None,
        after: str | None = None,
        timeout: float | None = None,
    ) -> Collections:
        """Returns a page of collections. `sort`: such as `-impressions`; `after`: `next` of the previous page."""
        filters = {"q": q, "tag": tag, "archived": archived}
        query = {"include": _to_text(include), "sort": sort, **filters, "limit": limit, "offset": offset, "after": after}
        reply = await self._requester.send("GET", "/collections", query=query, timeout=timeout)
        return cast(Collections, reply.json())

    async def list_all(
        self,
        *,
        include: Include = (),
        sort: str | None = None,
        q: str | None = None,
        tag: str | None = None,
        archived: Archived | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[CollectionWithItsNumbers, None]:
        """Yields all collections, page by page."""
        after: str | None = None
        while True:
            page = await self.list(
                include=include, sort=sort, q=q, tag=tag, archived=archived, after=after, timeout=timeout
            )
            for collection in page["collections"]:
                yield collection
            after = page.get("next")
            if after is None:
                return

    async def get(
        self, id: str, *, include: Include = (), timeout: float | None = None
    ) -> CollectionWithItsNumbers | None:
        """Returns a collection, with the numbers that `include` names."""
        query = {"include": _to_text(include)}
        return cast(
            CollectionWithItsNumbers | None, await self._read("GET", _to_path(id), query=query, timeout=timeout)
        )

    async def put(
        self,
        id: str,
        content: NewCollection,
        *,
        if_version: str | None = None,
        if_absent: bool = False,
        timeout: float | None = None,
    ) -> Collection:
        """Creates or replaces a collection. If it does not meet the condition: `CONDITION_FAILED` (412)."""
        headers = {"if-match": _to_tag(if_version), "if-none-match": "*" if if_absent else None}
        reply = await self._requester.send("PUT", _to_path(id), json=content, headers=headers, timeout=timeout)
        return cast(Collection, reply.json())

    async def patch(
        self, id: str, patch: ChangeOfACollection, *, if_version: str | None = None, timeout: float | None = None
    ) -> Collection | None:
        """Changes the fields of `patch`; `None` as a value removes a field."""
        headers = {"if-match": _to_tag(if_version)}
        reply = await self._read("PATCH", _to_path(id), json=patch, headers=headers, timeout=timeout)
        return cast(Collection | None, reply)

    async def duplicate(
        self, id: str, *, name: str | None = None, timeout: float | None = None
    ) -> Collection | None:
        """Creates a copy under a new id, without history and posts. `name`: by default the same name."""
        json = {} if name is None else {"name": name}
        reply = await self._read("POST", f"{_to_path(id)}/duplicate", json=json, timeout=timeout)
        return cast(Collection | None, reply)

    async def delete(self, id: str, *, if_version: str | None = None, timeout: float | None = None) -> bool:
        """Deletes a collection, which can then be restored for 30 days. Returns true if it existed."""
        headers = {"if-match": _to_tag(if_version)}
        reply = await self._requester.find(MISSES, "DELETE", _to_path(id), headers=headers, timeout=timeout)
        return reply is not None

    async def bulk(
        self,
        ids: Sequence[str],
        change: EditOfCollections | DeletionOfCollections | RestorationOfCollections,
        *,
        versions: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Sequence[BulkResult]:
        """Makes the same change of at most 500 collections, each one completely or not at all.

        `change`: such as `{"addTags": ["x"], "archived": True}`, `{"deleted": True}` or `{"restored": True}`; `versions`:
        required version of a collection, by its id.
        """
        json = {"ids": list(ids), "change": change, **({"versions": dict(versions)} if versions else {})}
        reply = await self._requester.send("POST", "/campaigns/bulk", json=json, timeout=timeout)
        return cast(BulkResults, reply.json())["results"]

    async def list_trash(
        self, *, limit: int | None = None, after: str | None = None, timeout: float | None = None
    ) -> Trash:
        """Returns a page of the deleted collections that can be restored. `after`: `next` of the previous page."""
        query = {"limit": limit, "after": after}
        reply = await self._requester.send("GET", "/trash", query=query, timeout=timeout)
        return cast(Trash, reply.json())

    async def restore(
        self, id: str, *, if_version: str | None = None, timeout: float | None = None
    ) -> Collection | None:
        """Restores a deleted collection with its numbers and its history."""
        headers = {"if-match": _to_tag(if_version)}
        reply = await self._read("POST", f"{_to_trash_path(id)}/restore", headers=headers, timeout=timeout)
        return cast(Collection | None, reply)

    async def delete_for_good(self, id: str, *, if_version: str | None = None, timeout: float | None = None) -> bool:
        """Deletes a deleted collection for good. Returns true if it was in the trash."""
        headers = {"if-match": _to_tag(if_version)}
        reply = await self._requester.find(MISSES, "DELETE", _to_trash_path(id), headers=headers, timeout=timeout)
        return reply is not None

    async def add_video(
        self, id: str, video: str, *, if_version: str | None = None, timeout: float | None = None
    ) -> Sequence[str] | None:
        """Adds a video by its id or a link to it. Returns all videos of the collection."""
        headers = {"if-match": _to_tag(if_version)}
        reply = await self._read("PUT", _to_path(id, video), headers=headers, timeout=timeout)
        return None if reply is None else cast(Sequence[str], reply["videos"])

    async def remove_video(
        self, id: str, video: str, *, if_version: str | None = None, timeout: float | None = None
    ) -> bool:
        """Removes a video from a collection. Returns true if the collection contained it."""
        headers = {"if-match": _to_tag(if_version)}
        reply = await self._requester.find(MISSES, "DELETE", _to_path(id, video), headers=headers, timeout=timeout)
        return reply is not None

    async def get_stats(self, id: str, *, by_video: bool = False, timeout: float | None = None) -> Statistics | None:
        """Returns the sums of a collection; with `by_video` also the numbers of each video."""
        query = {"by": "video" if by_video else None}
        return cast(Statistics | None, await self._read("GET", f"{_to_path(id)}/stats", query=query, timeout=timeout))

    async def get_history(
        self,
        id: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        step: int | Literal["day"] | None = None,
        zone: str | None = None,
        timeout: float | None = None,
    ) -> Sequence[HistoryPoint] | None:
        """Returns the sums over time.

        `start`, `end`: the period; `step`: at most one point per step (s), or per day of the time zone `zone`.
        """
        query = {"from": start, "to": end, "step": step, "zone": zone}
        return await self._read_points(f"{_to_path(id)}/stats/history", query, timeout)

    async def get_results(
        self,
        id: str,
        *,
        start: date | None = None,
        end: date | None = None,
        zone: str | None = None,
        timeout: float | None = None,
    ) -> Results | None:
        """Returns the growth within the campaign's dates, or within another range.

        `start`, `end`: first and last day in the time zone `zone`, or, as a `datetime`, moments.
        """
        query = {"from": _to_day(start), "to": _to_day(end), "zone": zone}
        return cast(Results | None, await self._read("GET", f"{_to_path(id)}/results", query=query, timeout=timeout))

    async def list_videos(self, id: str, *, timeout: float | None = None) -> Videos | None:
        """Returns the videos of a collection with their titles and numbers."""
        return cast(Videos | None, await self._read("GET", f"{_to_path(id)}/videos", timeout=timeout))

    async def get_video_history(
        self,
        id: str,
        video: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        step: int | Literal["day"] | None = None,
        zone: str | None = None,
        timeout: float | None = None,
    ) -> Sequence[HistoryPoint] | None:
        """Returns the numbers of one video over time."""
        query = {"from": start, "to": end, "step": step, "zone": zone}
        return await self._read_points(f"{_to_path(id, video)}/history", query, timeout)

    async def preview_paste(self, text: str, *, timeout: float | None = None) -> Preview:
        """Finds the videos, channels, playlists and posts in a text. Bare words are looked up at YouTube."""
        reply = await self._requester.send("POST", "/preview", json={"text": text}, timeout=timeout)
        return cast(Preview, reply.json())

    async def preview_paste_for(self, id: str, text: str, *, timeout: float | None = None) -> Preview | None:
        """As `preview_paste`, with the state `member` for what the collection contains."""
        path = f"{_to_path(id)}/preview"
        return cast(Preview | None, await self._read("POST", path, json={"text": text}, timeout=timeout))

    async def import_campaigns(
        self, file: bytes, *, dry_run: bool = False, timeout: float | None = None
    ) -> ImportOfCampaigns:
        """Imports the campaigns of a CSV or XLSX file. With `dry_run` nothing is changed."""
        headers = {"content-type": XLSX_MEDIA_TYPE if file.startswith(b"PK") else "text/csv"}
        query = {"dryRun": "true" if dry_run else None}
        reply = await self._requester.send(
            "POST", "/campaigns/import", query=query, headers=headers, content=file, timeout=timeout
        )
        return cast(ImportOfCampaigns, reply.json())

    async def export_campaigns(self, format: Literal["csv", "xlsx"], *, timeout: float | None = None) -> bytes:
        """Returns a file with all campaigns."""
        query = {"format": format}
        return (await self._requester.send("GET", "/campaigns/export", query=query, timeout=timeout)).content

    async def list_posts(self, id: str, *, timeout: float | None = None) -> Sequence[Post] | None:
        """Returns the posts of other platforms with their last reported numbers."""
        reply = await self._read("GET", f"{_to_path(id)}/posts", timeout=timeout)
        return None if reply is None else cast(Sequence[Post], reply["posts"])

    async def add_post(self, id: str, post: NewPost, *, timeout: float | None = None) -> Post | None:
        """Adds a post by its link, or replaces it. Its id is the platform and the id of the link."""
        return cast(Post | None, await self._read("POST", f"{_to_path(id)}/posts", json=post, timeout=timeout))

    async def put_post(self, id: str, post_id: str, post: NewPost, *, timeout: float | None = None) -> Post | None:
        """Creates or replaces a post. Its numbers remain."""
        return cast(Post | None, await self._read("PUT", _to_post_path(id, post_id), json=post, timeout=timeout))

    async def delete_post(self, id: str, post_id: str, *, timeout: float | None = None) -> bool:
        """Deletes a post with its numbers. Returns true if it existed."""
        reply = await self._requester.find(MISSES, "DELETE", _to_post_path(id, post_id), timeout=timeout)
        return reply is not None

    async def report_numbers(
        self, id: str, post_id: str, numbers: NewNumbersOfAPost, *, timeout: float | None = None
    ) -> Post | None:
        """Reports the numbers of a post at a time: at least one count."""
        path = f"{_to_post_path(id, post_id)}/numbers"
        return cast(Post | None, await self._read("POST", path, json=numbers, timeout=timeout))

    async def list_numbers(self, id: str, post_id: str, *, timeout: float | None = None) -> NumbersOfAPost | None:
        """Returns the numbers of a post, the oldest first."""
        path = f"{_to_post_path(id, post_id)}/numbers"
        return cast(NumbersOfAPost | None, await self._read("GET", path, timeout=timeout))

    async def delete_numbers(
        self, id: str, post_id: str, at: str | datetime, *, timeout: float | None = None
    ) -> bool:
        """Deletes the numbers of a time. Returns true if they existed."""
        moment = at.isoformat() if isinstance(at, datetime) else at
        path = f"{_to_post_path(id, post_id)}/numbers/{to_segment(moment)}"
        return await self._requester.find(MISSES, "DELETE", path, timeout=timeout) is not None

    async def import_numbers(
        self, id: str, csv: str, *, dry_run: bool = False, timeout: float | None = None
    ) -> ImportedNumbers | None:
        """Imports the numbers of posts from a CSV file. With `dry_run` it stores nothing."""
        path = f"{_to_path(id)}/reported/numbers"
        options = {"query": {"dryRun": "true" if dry_run else None}, "headers": {"content-type": "text/csv"}}
        reply = await self._read("POST", path, content=csv.encode(), timeout=timeout, **options)
        return cast(ImportedNumbers | None, reply)

    async def get_reported_history(
        self,
        id: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        step: int | None = None,
        timeout: float | None = None,
    ) -> HistoryOfReportedSums | None:
        """Returns the reported sums over time. The first point may be before `start`."""
        query = {"from": start, "to": end, "step": step}
        reply = await self._read("GET", f"{_to_path(id)}/reported/history", query=query, timeout=timeout)
        return cast(HistoryOfReportedSums | None, reply)

    async def export(self, id: str, format: Literal["csv", "json"], *, timeout: float | None = None) -> str | None:
        """Returns the text of a file with the collection and its videos, without a byte order mark."""
        path = f"{_to_path(id)}/export"
        reply = await self._requester.find(MISSES, "GET", path, query={"format": format}, timeout=timeout)
        return None if reply is None else reply.content.decode("utf-8-sig")

    async def get_upstream(self, *, timeout: float | None = None) -> Upstream:
        """Returns the state of YouTube's API, the reason of an outage, and the rest of the daily budget."""
        return cast(Upstream, (await self._requester.send("GET", "/upstream", timeout=timeout)).json())

    async def _read(self, method: str, path: str, **options: Any) -> Any:
        reply = await self._requester.find(MISSES, method, path, **options)
        return None if reply is None else reply.json()

    async def _read_points(
        self, path: str, query: dict[str, Any], timeout: float | None
    ) -> Sequence[HistoryPoint] | None:
        reply = await self._read("GET", path, query=query, timeout=timeout)
        return None if reply is None else cast(Sequence[HistoryPoint], reply["points"])


def _to_path(id: str, video: str | None = None) -> str:
    path = f"/collections/{to_segment(id)}"
    return path if video is None else f"{path}/videos/{to_segment(video)}"


def _to_day(day: date | None) -> date | str | None:
    return day if day is None or isinstance(day, datetime) else day.isoformat()


def _to_post_path(id: str, post_id: str) -> str:
    return f"{_to_path(id)}/posts/{to_segment(post_id)}"


def _to_trash_path(id: str) -> str:
    return f"/trash/{to_segment(id)}"


def _to_tag(version: str | None) -> str | None:
    return None if version is None else f'"{version}"'


def _to_text(include: Include) -> str | None:
    # The service accepts only this order.
    return ",".join(part for part in ("stats", "change") if part in include) or None
