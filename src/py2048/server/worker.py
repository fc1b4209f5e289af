"""One of several workers: how it shows that it lives, and what it shares with the others."""

from __future__ import annotations

import asyncio
import logging
import mmap
import os
import re
import signal
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py2048.server.play.bus import MailboxBus

_log = logging.getLogger("py2048.web")
_BEAT = 1.0
_HEAD = struct.Struct("dI")  # the time of the last beat, and the length of the text
_SIZE = 2**18
_MAILBOX = 2**20
_SAMPLE = re.compile(rb"(\w+)(?:\{(.*)\})? (.*)")


class WorkerStatus:
    """Memory in which a worker writes that it lives and what it counts, for the others to read."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)
        self.write(b"")

    def write(self, text: bytes) -> None:
        """Write a text, and that the worker lives."""
        text = text[: _SIZE - _HEAD.size]
        _HEAD.pack_into(self._memory, 0, time.monotonic(), 0)  # nobody reads half a text
        self._memory[_HEAD.size : _HEAD.size + len(text)] = text
        _HEAD.pack_into(self._memory, 0, time.monotonic(), len(text))

    def read(self) -> bytes:
        """Return the last text."""
        _, length = _HEAD.unpack_from(self._memory)
        return self._memory[_HEAD.size : _HEAD.size + length]

    @property
    def silence(self) -> float:
        """For how many seconds nothing was written."""
        return time.monotonic() - float(_HEAD.unpack_from(self._memory)[0])


@dataclass(frozen=True)
class Mailbox:
    """A socket pair: whoever has it may write, and one reads."""

    write: socket.socket
    read: socket.socket

    @classmethod
    def make(cls) -> Mailbox:
        """Return a new mailbox, which keeps messages apart."""
        kind = getattr(socket, "SOCK_SEQPACKET", socket.SOCK_DGRAM)
        try:
            pair = socket.socketpair(socket.AF_UNIX, kind)
        except OSError:  # macOS has the name only
            pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for each in pair:
            each.setblocking(False)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MAILBOX)
        return cls(*pair)


@dataclass(frozen=True)
class Worker:
    """A worker, as its own process sees it.

    Attributes:
        number: its number, from 0.
        supervisor: the process that started it.
        statuses: what each worker writes.
        mailboxes: where each worker can be reached.
    """

    number: int
    supervisor: int
    statuses: Mapping[int, WorkerStatus]
    mailboxes: Mapping[int, Mailbox]

    def make_bus(self) -> MailboxBus:
        """Return the bus to the other workers."""
        from py2048.server.play.bus import MailboxBus

        outboxes = {number: mailbox.write for number, mailbox in self.mailboxes.items()}
        return MailboxBus(outboxes, self.mailboxes[self.number].read, self.number)

    async def beat(self, text: Callable[[], bytes]) -> None:
        """Show every second that this worker lives, and what it counts; end with the supervisor."""
        while os.getppid() == self.supervisor:
            self.statuses[self.number].write(text())
            await asyncio.sleep(_BEAT)
        _log.error("the supervisor is gone: this worker stops")
        os.kill(os.getpid(), signal.SIGTERM)

    def merged(self, text: bytes) -> bytes:
        """Return the metrics of all workers, each sample with the label ``worker``.

        Args:
            text: those of this worker, in Prometheus' text format.
        """
        texts = {number: status.read() for number, status in self.statuses.items()}
        texts[self.number] = text
        families: dict[bytes, list[bytes]] = {}
        samples: dict[bytes, list[bytes]] = {}
        for number, each in sorted(texts.items()):
            family = b""
            for line in each.splitlines():
                if line.startswith(b"# HELP "):
                    family = line.split(b" ")[2]
                    families.setdefault(family, [line])
                elif line.startswith(b"# TYPE "):
                    families[family] = [families[family][0], line]
                elif found := _SAMPLE.fullmatch(line):
                    labels = b",".join(filter(None, (found[2], b'worker="%d"' % number)))
                    samples.setdefault(family, []).append(
                        b"%s{%s} %s" % (found[1], labels, found[3])
                    )
        lines = (line for name in families for line in (*families[name], *samples.get(name, ())))
        return b"\n".join(lines) + b"\n"
