"""Ports for servers that the tests start by number."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

# Below what systems give to outgoing connections and to port 0 (32768 on Linux, 49152 elsewhere):
# nothing else on the machine is given one of these between our look at it and the server's start.
_PORTS = range(10_240, 32_768)
# The tests' own generator starts alike in all processes that run tests at the same time.
_choices = random.SystemRandom()


def free_port(beside: int = 0) -> int:
    """Return a port on which nothing listens, nor on the `beside` ports that follow it."""
    while True:
        port = _choices.choice(_PORTS[: len(_PORTS) - beside])
        with ExitStack() as probes:
            try:
                for each in range(port, port + beside + 1):
                    probes.enter_context(socket.socket()).bind(("", each))
            except OSError:
                continue
            return port
