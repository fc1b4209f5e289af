"""The windows of a submission, imagined or real, and the helper a grader looks at them with."""

from __future__ import annotations

from .person import Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .clock import Clock


def take_over(clock: Clock, *, real: bool) -> Person:
    """Put the stand-in in place of tkinter, or take hold of the real one."""
    if real:
        from .realtk import Real

        return Person(clock, Real(clock))
    from .faketk import install
    from .stage import Imagined

    return Person(clock, Imagined(install(clock)))
