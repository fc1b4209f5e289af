"""Test whether a submission's random draws have the required probabilities.

The test is Wald's sequential probability ratio test, which considers one draw at a time and stops
as soon as it can decide. The test rejects a correct program with a probability of at most
`FALSE_ALARM`, regardless of the number of draws. With enough draws, a program with a fault of the
expected size passes with a probability of about `MISSED`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from py2048.core.language import _
from py2048.courses.grading.session import SubmissionSession

FALSE_ALARM = 5e-5
MISSED = 0.004


class Odds:
    """Sequential test of an event's probability.

    Args:
        fault: Relative deviation from the correct probability, up or down, that the test should
            detect.
        of: Number of tests in the check, for a Bonferroni correction of the false alarm rate.
    """

    def __init__(self, fault: float = 0.2, of: int = 1) -> None:
        self._limit = math.log(2 * of / FALSE_ALARM)
        # Log-likelihood ratio of each alternative; 1.2 means a probability that is 20 % too high.
        self._evidence = {1 - fault: 0.0, 1 + fault: 0.0}
        self.seen = 0
        self.due = 0.0
        self.wrong = False

    @property
    def settled(self) -> bool:
        """Whether the test has reached a decision."""
        return self.wrong or not self._evidence

    def note(self, odds: float, *, came: bool) -> None:
        """Record a draw: the probability of an event, and whether the event occurred."""
        self.seen += came
        self.due += odds
        for times, evidence in list(self._evidence.items() if odds < 1 else ()):
            other = min(times * odds, (1 + odds) / 2)
            ratio = other / odds if came else (1 - other) / (1 - odds)
            self._evidence[times] = evidence + math.log(ratio)
            if self._evidence[times] >= self._limit:
                self.wrong = True
            if self._evidence[times] <= math.log(MISSED):
                del self._evidence[times]


BATCH_SIZE, MAX_BATCHES = 500, 12


def judge_cells(session: SubmissionSession, tests: Mapping[Any, Odds], wanted: str) -> None:
    """Fail if tiles appeared too often or too rarely on one of the tested cells."""
    for cell, odds in tests.items():
        if odds.wrong:
            found = _("{seen} on {place}; {due} were expected")
            session.fail(wanted, found.format(seen=odds.seen, place=cell, due=round(odds.due)))


def draws_evenly(
    session: SubmissionSession, code: str, values: Sequence[object], given: str
) -> None:
    """Fail unless repeated evaluations of `code` yield all `values` with equal probability.

    `given` is setup code, which runs once.
    """
    session.begin()
    session.expect(given)
    tests = [Odds(of=len(values)) for _ in values]
    odds = 1 / len(values)
    for batch in range(MAX_BATCHES):
        seed = session.seed_for(batch)
        found = session.value(f"[{code} for _ in range({BATCH_SIZE})]", seed=seed)
        del session.shown[:-1]
        for value in found:
            if value not in values:
                session.fail(" or ".join(map(str, values)), str(value))
            for known, test in zip(values, tests, strict=True):
                test.note(odds, came=value == known)
        for known, test in zip(values, tests, strict=True):
            if test.wrong:
                drawn = _("{seen} times {value} in {count}")
                drawn = drawn.format(seen=test.seen, value=known, count=BATCH_SIZE * (batch + 1))
                wanted = _("each of {values} equally often").format(values=list(values))
                session.fail(wanted, drawn)
        if odds == 1 or all(test.settled for test in tests):
            return
