"""Whether what a submission draws comes with the odds that it should have.

One test for all courses, Wald's sequential probability ratio test: it looks at one draw after the
other and decides as soon as it can. A right program is called wrong in at most `FALSE_ALARM` of all
cases, however many draws are looked at; a fault of the size that a test is for is missed in about
`MISSED` of them, where there are draws enough to decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from py2048.core.language import _
from py2048.courses.grading.session import SubmissionSession

FALSE_ALARM = 5e-5
MISSED = 0.004


class Odds:
    """The odds of one event, which a fault makes higher or lower by the share `fault` of them.

    It is one `of` several events that are tested in one check, which share its false alarms.
    """

    def __init__(self, fault: float = 0.2, of: int = 1) -> None:
        self._limit = math.log(2 * of / FALSE_ALARM)
        self._evidence = {1 - fault: 0.0, 1 + fault: 0.0}  # by multiples of the right odds
        self.seen = 0
        self.due = 0.0
        self.wrong = False

    @property
    def settled(self) -> bool:
        """Whether it is known if the odds are right."""
        return self.wrong or not self._evidence

    def note(self, odds: float, *, came: bool) -> None:
        """Note one draw, in which the event should come with `odds`: whether it `came`."""
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


BATCH, BATCHES = 500, 12


def draws_evenly(session: SubmissionSession, code: str, values: Sequence[object]) -> None:
    """Fail unless `code`, again and again, gives each of `values` equally often, and no other."""
    tests = [Odds(of=len(values)) for _ in values]
    odds = 1 / len(values)
    for batch in range(BATCHES):
        seed = session.seed_for(batch)
        found = session.value(f"[{code} for _ in range({BATCH})]", seed=seed)
        del session.shown[:-1]
        for value in found:
            if value not in values:
                session.fail(" or ".join(map(str, values)), str(value))
            for known, test in zip(values, tests, strict=True):
                test.note(odds, came=value == known)
        for known, test in zip(values, tests, strict=True):
            if test.wrong:
                drawn = _("{seen} times {value} in {count}")
                drawn = drawn.format(seen=test.seen, value=known, count=BATCH * (batch + 1))
                wanted = _("each of {values} equally often").format(values=list(values))
                session.fail(wanted, drawn)
        if odds == 1 or all(test.settled for test in tests):
            return
