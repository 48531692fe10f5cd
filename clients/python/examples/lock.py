"""Runs a command while holding a lock: a value that only one client can create.

    python lock.py nightly-report --kv http://localhost:8082 -- make report

The value expires by itself if its owner ends without a release. The owner extends it meanwhile, and ends the command
if it has lost the lock.
"""

import argparse
import subprocess
import sys
import uuid

from influencer_stats import KvClient, ServiceError

TTL = 30
"""Time after which the lock of an owner that has crashed is free (s)."""


def acquire(kv: KvClient, name: str) -> str:
    """Waits until the lock is free. Returns the ETag of its value, which only this owner knows."""
    # One item comes at once, and another one after each change of the value. So no release is missed.
    for _ in kv.watch(start=name, end=f"{name}\0"):
        try:
            return kv.put(name, str(uuid.uuid4()), ttl=TTL, if_none_match="*")
        except ServiceError as error:
            if error.code != "CONDITION_FAILED":
                raise
    raise AssertionError("a watch stream does not end")


def release(kv: KvClient, name: str, etag: str) -> None:
    """Frees the lock, unless it has another owner by now."""
    try:
        kv.delete(name, if_match=etag)
    except ServiceError as error:
        if error.code != "CONDITION_FAILED":
            raise


def run(kv: KvClient, name: str, etag: str, command: list[str]) -> int:
    """Runs a command, and extends the lock until it ends."""
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait(TTL / 3)
            except subprocess.TimeoutExpired:
                pass
            try:
                # The ETag stays the same.
                kv.expire(name, TTL, if_match=etag)
            except ServiceError as error:
                if error.code != "CONDITION_FAILED":
                    continue
                process.terminate()
                print(f"the lock {name} is lost", file=sys.stderr)
                return process.wait() or 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs a command while holding a lock.")
    parser.add_argument("name", help="key of the lock")
    parser.add_argument("--kv", default="http://localhost:8082", help="URL of kv")
    parser.add_argument("--token", help="API_TOKEN of the service, if it has one")
    parser.add_argument("command", nargs="+", help="command with its arguments, after --")
    options = parser.parse_args()
    with KvClient(options.kv, token=options.token) as kv:
        etag = acquire(kv, options.name)
        try:
            return run(kv, options.name, etag, options.command)
        finally:
            release(kv, options.name, etag)


if __name__ == "__main__":
    sys.exit(main())
