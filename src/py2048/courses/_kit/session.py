"""A conversation with one submission: type lines into it, look at what comes of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from py2048.courses._kit.process import ProcessDied
from py2048.courses._kit.runner import BLANK, Runner, SandboxConfig
from py2048.courses._kit.sources import ADVICE, Unreadable, Workspace
from py2048.courses._kit.tasks import Example, Grading, Mismatch, PatchFailed, Trouble
from py2048.courses._kit.values import Raised, same, show

WAYS = ("whole", "each", "quiet")
SHOWN_LINES = 16
GROUP = 24  # examples sent at a time
LEAST_PATIENCE = 0.1  # of the usual time, after several overruns
PATIENCE = 12.0  # seconds that one check may take in all, for each second a call may take


@dataclass(frozen=True)
class Outcome:
    """What some lines gave: the value of the last, what was printed, what was raised.

    `asked` counts the lines that were read; `state` is ``waiting`` when a program waits for a
    person and ``done`` otherwise; `complaints` is what went to the standard error.
    """

    value: Any
    output: str
    error: Raised | None
    asked: int = 0
    state: str = "done"
    complaints: str = ""

    @property
    def answer(self) -> Any:
        """The exception if there was one, else the value: what an expectation is about."""
        return self.error or self.value


class Session:
    """One submission, talked to in a process that each check finds untouched.

    Calls raise `Trouble` when the process ends or overruns, `Mismatch` where an expectation
    fails. A session is a context manager; leaving it ends the processes.
    """

    def __init__(self, grading: Grading, work: Workspace, sandbox: SandboxConfig) -> None:
        self.grading = grading
        self.work = work
        self.runner = Runner(grading, work, sandbox)
        self.seconds = grading.seconds
        self.reference_patch = ""
        self.shown: list[str] = []
        self._overruns = 0
        self._deadline = float("inf")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self.runner.end()

    # -- the process --------------------------------------------------------------------

    @property
    def out_of_time(self) -> bool:
        """Whether the time for the whole submission is over."""
        return self.runner.out_of_time

    def start_check(self, seconds: float | None = None, reference_patch: str = "") -> None:
        """Begin a check: in an untouched process, with `reference_patch` run in it if given.

        Each call of the check may take `seconds`, less once the submission has overrun: who
        hangs in one function hangs in all that call it.
        """
        patience = max(LEAST_PATIENCE, 0.5**self._overruns)
        self.seconds = (seconds or self.grading.seconds) * patience
        self._deadline = time.monotonic() + self.seconds * PATIENCE
        self.reference_patch = reference_patch
        self.shown.clear()
        self.runner.leave()

    def close(self) -> None:
        """Leave the process: whatever comes next begins in an untouched one."""
        self.runner.leave()

    def fresh(self) -> None:
        """Begin again in an untouched process: whatever the submission changed is gone."""
        try:
            self.runner.begin()
            self._begin()
            if self.reference_patch:
                self._must(self.reference_patch)
                self._begin()
        except ProcessDied as death:
            self._lost("the program to load", death)

    def _must(self, code: str) -> None:
        """Run the grader's own code, which has to work."""
        facts = self._ask({"op": "run", "code": code, **_NOTHING_TYPED})
        if facts["error"]:
            raise PatchFailed(self.text(), "right versions of other functions", str(_error(facts)))

    def _ask(self, request: dict[str, Any], calls: int = 1) -> dict[str, Any]:
        """One request, of so many calls, to a process that is there; raise `ProcessDied`."""
        if not self.runner.ready:
            self.fresh()
        seconds = min(self.seconds, max(0.05, self._deadline - time.monotonic()))
        return self.runner.ask({"seconds": seconds, **request}, seconds * calls)

    def _begin(self) -> None:
        facts = self._ask({"op": "begin", "prelude": self.grading.prelude})
        if facts["error"]:
            self.fail("the names that the examples use", str(_error(facts)))

    # -- talking ------------------------------------------------------------------------

    def begin(self) -> None:
        """Forget the example so far and every name made in it; the module keeps its state."""
        self.shown.clear()
        try:
            if self.runner.ready:
                self._begin()
            else:
                self.fresh()
        except ProcessDied as death:
            self._lost("the program to load", death)

    def run(
        self,
        code: str,
        *,
        typed: Sequence[str] = (),
        draws: Sequence[float] = (),
        seed: int | None = None,
        show: bool = True,
    ) -> Outcome:
        """Run lines; what the submission raises is part of the outcome.

        Without `show` the lines are left out of the example that a student may get to see.
        """
        if show:
            self._show(code, typed)
        return self._outcome(
            {"op": "run", "code": code, "typed": list(typed), "draws": list(draws), "seed": seed},
            "an end",
        )

    def program(
        self,
        *,
        typed: Sequence[str] = (),
        arguments: Sequence[str] = (),
        draws: Sequence[float] = (),
        seed: int = 0,
    ) -> Outcome:
        """Run the student's file as a program in a new process."""
        self.runner.begin(BLANK)
        self.shown[:] = [f"$ python {' '.join([self.work.file, *arguments])}"]
        self._show("", typed)
        outcome = self._outcome(
            {
                "op": "program",
                "arguments": list(arguments),
                "typed": list(typed),
                "draws": list(draws),
                "seed": seed,
            },
            "an end, or waiting for the player",
        )
        if outcome.state == "waiting":
            self._begin()
        return outcome

    def _outcome(self, request: dict[str, Any], expected: str) -> Outcome:
        try:
            facts = self._ask(request)
        except ProcessDied as death:
            self._lost(expected, death)
        error = _error(facts)
        if error is not None and error.type == "OutOfTime":
            self._overruns += 1
            self.runner.leave()
            raise Trouble(self.text(), expected, str(error))
        return Outcome(facts.get("value"), facts["output"], error, facts["asked"], facts["state"])

    def _lost(self, expected: str, death: ProcessDied) -> Any:
        self._overruns += 1
        raise Trouble(self.text(), expected, str(death)) from None

    def value(self, code: str, **options: Any) -> Any:
        """Run lines and return the value of the last; raise `Mismatch` if they raise."""
        outcome = self.run(code, **options)
        if outcome.error is not None:
            self.fail("a value", show(outcome.error))
        return outcome.value

    def expect(
        self,
        code: str,
        expected: Any = ...,
        *,
        prints: Any = None,
        then: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Outcome:
        """Run lines and compare what they give; see `Example` for the arguments."""
        try:
            outcome = self.run(code, **options)
        except Trouble as trouble:
            wanted = "a result" if expected is ... else show(expected)
            raise Trouble(trouble.example, wanted, trouble.actual) from None
        self._compare(expected, outcome.answer)
        self._compare_printed(prints, outcome.output)
        for expression, value in (then or {}).items():
            self._compare(value, self.run(expression).answer)
            self.shown.pop()
        return outcome

    def _compare(self, expected: Any, actual: Any) -> None:
        if expected is ...:
            if isinstance(actual, Raised):
                self.fail("no exception", show(actual))
        elif not same(expected, actual):
            wanted, got = show(expected), show(actual)
            kinds = wanted == got
            self.fail(
                f"{wanted} ({type(expected).__name__})" if kinds else wanted,
                f"{got} ({type(actual).__name__})" if kinds else got,
            )

    def examples(self, examples: Sequence[Example]) -> None:
        """Try examples, each with names of its own; raise `Mismatch` at the first that fails.

        They are sent many at a time. When one of them ends the process, all of its group are
        tried again one by one, to find out which.
        """
        for start in range(0, len(examples), GROUP):
            group = examples[start : start + GROUP]
            found = self._found(group)
            for example, facts in zip(group, found, strict=False):
                self._judge(example, facts)
            for example in group[len(found) :]:
                self.example(example)

    def _found(self, group: Sequence[Example]) -> list[dict[str, Any]]:
        """What the examples of a group gave, as far as they could be tried together."""
        try:
            return self._tried(group) if len(group) > 1 else []
        except ProcessDied:
            return []

    def _tried(self, group: Sequence[Example]) -> list[dict[str, Any]]:
        request = {
            "op": "examples",
            "prelude": self.grading.prelude,
            "examples": [_as_request(example) for example in group],
        }
        found: list[dict[str, Any]] = self._ask(request, len(group))["found"]
        return found

    def example(self, example: Example) -> None:
        """Try one example; raise `Mismatch` if it does not hold."""
        try:
            (facts,) = self._tried([example])
        except ProcessDied as death:
            self._overruns += 1
            self._show_example(example)
            wanted = "a result" if example.expected is ... else show(example.expected)
            raise Trouble(self.text(), wanted, str(death)) from None
        self._judge(example, facts)

    def _show_example(self, example: Example) -> None:
        self.shown.clear()
        self._show(example.given, ())
        self._show(example.code, example.typed)

    def _judge(self, example: Example, facts: dict[str, Any]) -> None:
        """Compare what an example gave with what is expected."""
        self._show_example(example)
        early, error = _error(facts, "early"), _error(facts)
        for raised in (early, error):
            if raised is not None and raised.type == "OutOfTime":
                self._overruns += 1
                self.runner.leave()
                raise Trouble(self.text(), show(example.expected), str(raised))
        if early is not None:
            self.fail("to get that far", show(early))
        self._compare(example.expected, error or facts["value"])
        self._compare_printed(example.prints, facts["output"])
        for (expression, value), after in zip(example.then.items(), facts["then"], strict=True):
            self.shown.append(expression)
            self._compare(value, _error(after) or after["value"])
            self.shown.pop()

    def _compare_printed(self, expected: Any, printed: str) -> None:
        if expected is not None and not same(expected, printed):
            self.fail(f"to print {_printed(expected)}", f"printed {_printed(printed)}")

    def fail(self, expected: str, actual: str) -> Any:
        """Report the example shown so far, in words of the check's own."""
        raise Mismatch(self.text(), expected, actual)

    def _show(self, code: str, typed: Sequence[str]) -> None:
        self.shown.extend(code.strip("\n").split("\n") if code else [])
        if typed:
            self.shown.append(f"# typed: {' ⏎ '.join(typed)} ⏎")

    def text(self) -> str:
        """The example so far, as a student can type it; the middle of a long one is left out."""
        lines = self.shown
        if len(lines) > SHOWN_LINES:
            half = SHOWN_LINES // 2
            left_out = f"# … {len(lines) - 2 * half} lines …"
            lines = [*lines[:half], left_out, *lines[-half:]]
        return "\n".join(lines)


def _as_request(example: Example) -> dict[str, Any]:
    """The part of an example that the submission's process is told."""
    return {
        "given": example.given,
        "code": example.code,
        "then": list(example.then),
        "typed": list(example.typed),
        "draws": list(example.draws),
        "seed": example.seed,
    }


_NOTHING_TYPED: dict[str, Any] = {"typed": [], "draws": [], "seed": None}


def _error(facts: dict[str, Any], name: str = "error") -> Raised | None:
    """The exception among the facts."""
    found = facts[name]
    if not found:
        return None
    return Raised(
        found["type"], tuple(found["bases"]), found["message"], found["file"], found["line"]
    )


def _printed(text: Any) -> str:
    """Printed text for a report: as lines, unless it is a matcher."""
    return show(text) if not isinstance(text, str) or "\n" not in text.strip() else f"\n{text}"


def find_way(session: Session) -> None:
    """Find out how the submission's program can be loaded; raise `Unreadable` if it cannot."""
    work = session.work
    for way in WAYS:
        try:
            facts = session.runner.load(way)
        except ProcessDied as death:
            if way == WAYS[-1]:
                raise Unreadable(f"{work.file} cannot be loaded: {death}") from None
            continue
        error = _error(facts)
        if error is not None:
            place = f"{work.file}, line {error.line}" if error.line else work.file
            syntax = {"SyntaxError", "ImportError"} & {error.type, *error.bases}
            advice = ADVICE if error.type == "TabError" else work.advice if syntax else ""
            raise Unreadable(f"{place}: {error.type}: {error.message}{advice and f'; {advice}'}")
        if way != WAYS[0] or not facts["left_out"]:
            work.way = way
            work.skip = tuple(found["statement"] for found in facts["left_out"])
            work.notes.extend(_left_out(work.file, facts["left_out"]))
            return


def _left_out(file: str, statements: list[dict[str, Any]]) -> list[str]:
    """Notes for the student about lines that were left out."""
    notes = []
    for found in statements[:5]:
        reason = f"{found['error']}: {found['message']}".removesuffix(": ")
        inner = f" (line {found['line']})" if found["line"] != found["statement"] else ""
        why = f": {reason}{inner}" if reason else ""
        notes.append(f"{file}, line {found['statement']} was left out when loading{why}")
    return notes
