"""Pauses between attempts."""

import time

import anyio


def pause(seconds: float) -> None:
    time.sleep(seconds)


async def pause_async(seconds: float) -> None:
    await anyio.sleep(seconds)
