"""The words that all forms of a report share."""

from __future__ import annotations

from py2048.courses._kit.results import CheckResult, Report, TaskResult

CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}


def harmless(text: str) -> str:
    """A submission's text without anything that a terminal would obey."""
    return text.translate(CONTROLS)


def check_line(check: CheckResult) -> str:
    """One line on a check."""
    if check.carried:
        return f"✓ {check.title} (counted with right versions of what other tasks ask for)"
    free = "" if check.passed or check.weight else " (costs no marks)"
    return f"{'✓' if check.passed else '✗'} {check.title}{free}"


def failure_lines(check: CheckResult) -> list[str]:
    """The smallest failing example with expected and actual."""
    lines = [*check.example.split("\n"), f"expected: {check.expected}", f"actual:   {check.actual}"]
    return [line for line in lines if line]


def task_text(task: TaskResult) -> str:
    """What was asked in a task, and how its checks went."""
    lines = [task.asked, ""]
    for check in task.checks:
        lines.append(check_line(check))
        if not check.passed:
            shown = "\n".join(failure_lines(check)).split("\n")
            lines.extend(f"    {line}" for line in shown)
    return "\n".join(lines).rstrip()


def summary(report: Report) -> list[str]:
    """Lines on the submission as a whole: why it could not be graded, how it was read."""
    lines = [f"Not graded: {report.problem}"] if report.problem else []
    lines += [f"Note: {note}" for note in report.notes]
    if report.opening and any(not check.passed for task in report.tasks for check in task.checks):
        lines.append(f"To try an example in Python, type first: {report.opening}")
    return lines
