"""Each example runs against real services."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Urls
from influencer_stats import KvClient, PricesClient, StatsClient

EXAMPLES = Path(__file__).parents[1] / "examples"
VIDEOS = ["-4lB5EKS5Uk", "goesviral26"]


def run(name: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_campaign_chart(urls: Urls, stats: StatsClient, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    stats.put("chart", {"videos": VIDEOS})
    file = tmp_path / "chart.png"
    result = run("campaign_chart.py", "chart", str(file), "--stats", urls["stats"])
    assert result.returncode == 0, result.stderr
    assert file.read_bytes().startswith(b"\x89PNG") and "2 videos" in result.stdout
    assert "no collection" in run("campaign_chart.py", "none", str(file), "--stats", urls["stats"]).stderr


def test_live_numbers(urls: Urls, stats: StatsClient) -> None:
    stats.put("live", {"videos": VIDEOS})
    result = run("live_numbers.py", "live", "--sse", urls["sse"], "--count", "2")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 2 and all(line.startswith("live ") for line in lines) and "views" in lines[1]


def test_price_lookup(urls: Urls, prices: PricesClient) -> None:
    for id, term, value in (("lookup-1", "12", "9.50"), ("lookup-2", "24", "8.90")):
        prices.put(
            {
                "id": id,
                "offeringId": "lookup",
                "groupId": "g",
                "priceSpecId": "MRC",
                "charValues": [{"char": "Term", "value": term}],
                "value": value,
            }
        )
    search = ["lookup", "g", "MRC", "--prices", urls["prices"]]
    found = run("price_lookup.py", *search, "Term=12")
    assert found.stdout == "9.50 USD (price lookup-1)\n", found.stderr
    ambiguous = run("price_lookup.py", *search)
    assert ambiguous.returncode == 1 and "candidate lookup-2: 8.90 USD" in ambiguous.stderr
    for id in ("lookup-1", "lookup-2"):
        prices.delete(id)


def test_lock(urls: Urls, kv: KvClient, tmp_path: Path) -> None:
    log = tmp_path / "log"
    # Each owner writes two lines; without the lock, those of different owners would mix.
    script = f"import os, time; f = open({str(log)!r}, 'a', 1); f.write(f'{{os.getpid()}}\\n'); time.sleep(0.3); f.write(f'{{os.getpid()}}\\n')"
    command = [
        sys.executable,
        str(EXAMPLES / "lock.py"),
        "lock",
        "--kv",
        urls["kv"],
        "--",
        sys.executable,
        "-c",
        script,
    ]
    owners = [subprocess.Popen(command) for _ in range(4)]
    assert [owner.wait(60) for owner in owners] == [0] * 4
    lines = log.read_text().splitlines()
    assert len(lines) == 8 and lines[::2] == lines[1::2]
    assert kv.get("lock") is None


def test_lock_of_a_crashed_owner(urls: Urls, kv: KvClient) -> None:
    kv.put("crashed", "owner", ttl=1)
    begin = time.monotonic()
    result = run("lock.py", "crashed", "--kv", urls["kv"], "--", sys.executable, "-c", "")
    assert result.returncode == 0, result.stderr
    assert time.monotonic() - begin > 0.5
