"""Progress of commands on stderr."""

from __future__ import annotations

import pytest
from tests.processes import python

PROGRAM = """
import time
from py2048.presentation import streams
streams.QUIET_S, streams.POLL_S, streams.PIPE_PERIOD_S = 0, 0.01, {period_s}
with streams.StatusLine() as line:
    for number in range(20):
        line.tell({news})
        time.sleep(0.05)
"""


@pytest.mark.parametrize(("period_s", "news"), [(0, "'the same'"), (60, "number")])
def test_a_pipe_gets_new_progress_once_in_a_while(period_s, news):
    """A line is written at most once a period, and only if there is progress."""
    done = python("-c", PROGRAM.format(period_s=period_s, news=news), check=True)
    assert len(done.stderr.splitlines()) <= 1
