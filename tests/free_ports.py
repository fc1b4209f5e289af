"""Free ports for servers that tests start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

# Below the ranges for outgoing connections and port 0 (from 32768 on Linux, 49152 elsewhere), so
# the system does not assign one of these ports between the check and the server's start.
_PORTS = range(10_240, 32_768)
# The tests' own random generator has the same seed in parallel test processes.
_choices = random.SystemRandom()


def free_port(beside: int = 0) -> int:
    """Return a port that is free, as are the next `beside` ports."""
    while True:
        port = _choices.choice(_PORTS[: len(_PORTS) - beside])
        with ExitStack() as probes:
            try:
                for each in range(port, port + beside + 1):
                    probes.enter_context(socket.socket()).bind(("", each))
            except OSError:
                continue
            return port
