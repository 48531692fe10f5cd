"""Real services for the tests: those of `SERVICE_URLS` (JSON by name), or new ones."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from influencer_stats import KvClient, PricesClient, SseClient, StatsClient

ROOT = Path(__file__).parents[3]
NODE = ROOT / "node_modules" / ".bin" / "node"
SERVICES = ("stats", "kv", "sse", "prices", "youtube")

Urls = Mapping[str, str]


@pytest.fixture(scope="session")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Urls]:
    if given := os.environ.get("SERVICE_URLS"):
        yield json.loads(given)
        return
    if not NODE.exists():
        pytest.skip("the services are not installed")
    data = tmp_path_factory.mktemp("data")
    settings = ["--max-queue-delay", "0", "--port", "0", "--data", str(data), "--prices.sample", "no"]
    command = [str(NODE), "scripts/start.mjs", *SERVICES, *settings]
    log = data / "log"
    with (
        log.open("w") as output,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=output, text=True) as process,
    ):
        assert process.stdout is not None
        found: dict[str, str] = {}
        try:
            for line in process.stdout:
                if row := re.match(r"(\w+) +(http://\S+) ", line):
                    found[row[1]] = row[2]
                if len(found) == len(SERVICES):
                    break
            assert len(found) == len(SERVICES), log.read_text()
            yield found
        finally:
            process.terminate()
            process.stdout.read()


@pytest.fixture
def stats(urls: Urls) -> Iterator[StatsClient]:
    with StatsClient(urls["stats"]) as client:
        yield client


@pytest.fixture
def kv(urls: Urls) -> Iterator[KvClient]:
    with KvClient(urls["kv"]) as client:
        yield client


@pytest.fixture
def sse(urls: Urls) -> Iterator[SseClient]:
    with SseClient(urls["sse"]) as client:
        yield client


@pytest.fixture
def prices(urls: Urls) -> Iterator[PricesClient]:
    with PricesClient(urls["prices"]) as client:
        yield client
