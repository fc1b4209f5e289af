"""A virtual display for the windows of one submission: real Tk draws there, and nobody looks.

Xvfb runs in a sandbox of its own, as a user of its own where that is possible, and lets in only
who has the key. Other submissions do not see it.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from py2048.courses._kit.protection import DISPLAY_KEY, Protection, display_command
from py2048.errors import CourseError

SIZE = "1280x1024x24"
START = 20.0  # seconds that Xvfb may take on a busy machine
FAMILY_ANY = 0xFFFF
ON_SCREEN = os.name == "posix" and os.uname().sysname == "Darwin"  # Tk there knows no X


def check_display() -> None:
    """Find out before the work whether windows can be graded here.

    Raises:
        CourseError: if not.
    """
    if not ON_SCREEN and not shutil.which("Xvfb"):
        raise CourseError(
            "programs with windows are graded on a virtual display, and there is no Xvfb: "
            "install it (apt install xvfb)"
        )


def key_file(key: bytes) -> bytes:
    """The contents of an X authority file that gives `key` for every display."""
    parts = [b"", b"", b"MIT-MAGIC-COOKIE-1", key]
    return FAMILY_ANY.to_bytes(2, "big") + b"".join(
        len(part).to_bytes(2, "big") + part for part in parts
    )


class Display:
    """A display that `user` may open; ``name`` is what ``DISPLAY`` has to be.

    Attributes:
        authority: the file with the key.
        sockets: the folder that has to be ``/tmp/.X11-unix`` for those with a root of their own.
    """

    def __init__(self, protection: Protection, user: int | None, server_user: int | None) -> None:
        check_display()
        self._folder = Path(tempfile.mkdtemp(prefix="py2048-display-"))
        self._folder.chmod(0o711)
        self.sockets = self._folder / "sockets"
        self.sockets.mkdir()
        self.sockets.chmod(0o1777)
        key = key_file(secrets.token_bytes(16))
        self.authority = self._private("authority", key, user)
        own_root = protection.own_root
        kept = self._private("server", key, server_user)
        reading, writing = os.pipe()
        words = ["Xvfb", "-displayfd", str(writing), "-screen", "0", SIZE, "-nolisten", "tcp"]
        words += ["-nolisten", "local", "-noreset", "-auth", DISPLAY_KEY if own_root else str(kept)]
        self._server = subprocess.Popen(
            [*display_command(protection, self.sockets, kept, server_user), *words],
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(writing)
        number = _line(reading)
        self.name = f":{number}"
        self._left = [] if own_root else [f"/tmp/.X11-unix/X{number}", f"/tmp/.X{number}-lock"]
        if not number:
            self.close()
            raise CourseError("no virtual display could be started: Xvfb ended")

    def _private(self, name: str, data: bytes, user: int | None) -> Path:
        """A file that only `user` can read."""
        path = self._folder / name
        path.touch(0o600)
        path.write_bytes(data)
        path.chmod(0o400)
        if user is not None:
            os.chown(path, user, user)
        return path

    @property
    def alive(self) -> bool:
        """Whether it still runs; a submission may have done it harm."""
        return self._server.poll() is None

    def close(self) -> None:
        """End it and remove its files."""
        if self.alive:
            os.killpg(self._server.pid, signal.SIGKILL)
        self._server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        for path in self._left:
            Path(path).unlink(missing_ok=True)


def _line(descriptor: int) -> str:
    """What a server writes on its own when it is ready; nothing if it ends or takes too long."""
    with os.fdopen(descriptor, "rb") as answer:
        ready = select.select([answer], [], [], START)[0]
        return answer.readline().decode().strip() if ready else ""
