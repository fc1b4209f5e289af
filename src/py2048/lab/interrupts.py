"""Protect short critical sections against interrupts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def delayed_interrupts(*, redeliver: bool = True) -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the block ends. If not `redeliver`, discard them then."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    received: list[int] = []
    before = {
        each: signal.signal(each, lambda number, _: received.append(number))
        for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler or signal.SIG_DFL)
        if received and redeliver:
            signal.raise_signal(received[0])
