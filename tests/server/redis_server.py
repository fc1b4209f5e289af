"""A real Redis, or Valkey, of the tests' own, on loopback, with a password."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from tests.free_ports import free_port

PASSWORD = "s3cret-redis"


def find_redis() -> str | None:
    """Return the program of Valkey or Redis, None where neither is installed."""
    return shutil.which("valkey-server") or shutil.which("redis-server")


class RedisServer:
    """One Redis that keeps nothing."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self.port = free_port()
        self.url = f"redis://:{PASSWORD}@127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        """Start it; it answers when this returns."""
        self.process = subprocess.Popen(
            [
                *(self._program, "--port", str(self.port), "--bind", "127.0.0.1"),
                *("--requirepass", PASSWORD, "--save", "", "--appendonly", "no"),
            ],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
        )
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise AssertionError("Redis does not start")

    def stop(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait(20)

    def pause(self) -> None:
        """Let it take what is sent and answer nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)
