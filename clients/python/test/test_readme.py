"""The programs of the README run against real services."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Urls

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
PORTS = {"stats": "8080", "kv": "8082", "sse": "8083", "prices": "8084"}
LIVE, API = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def localize(program: str, urls: Urls) -> str:
    for name, port in PORTS.items():
        program = program.replace(f"http://localhost:{port}", urls[name])
    return program


def test_live_numbers(urls: Urls) -> None:
    command = [sys.executable, "-u", "-c", localize(LIVE, urls)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first, second = (int(process.stdout.readline()) for _ in range(2))
        assert 0 < first < second
        process.terminate()


def test_api(urls: Urls, capsys: pytest.CaptureFixture[str]) -> None:
    exec(localize(API, urls), {})
    assert capsys.readouterr().out.splitlines()[1:] == ["CONDITION_FAILED 412 None", "1.10"]
