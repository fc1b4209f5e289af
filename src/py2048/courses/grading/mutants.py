"""Mutation testing of a course's checks.

Each mutant is a correct solution with a single injected fault, and is graded like a submission. A
mutant must lose marks in a task that the changed function belongs to, and in no other task (see
``ownership.py``).

Mutants that are equivalent to the solution are listed in the file ``NAME.toml`` next to the
solution::

    [[exempt]]
    where = "Grid.collapseRow"
    change = "while len(new) < len(lst): → while (len(new) != len(lst)):"
    reason = "new is never longer than lst"

`change` is copied from the mutant's line in the report. An entry must match exactly `times`
mutants, or one by default. Without `change`, an entry exempts a whole function or class, such as
code handed out to students.
"""

from __future__ import annotations

import ast
import copy
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import CodeType
from typing import Any, Literal

import msgspec

from py2048.core.data import convert, read_toml
from py2048.core.errors import CourseError
from py2048.courses.grading.grader import grade_task
from py2048.courses.grading.ownership import copy_solution, files_of_solution, owners, units
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.grading.session import SubmissionSession, load_program, submission_folder
from py2048.courses.grading.submissions import Unreadable, collect, prepare
from py2048.courses.grading.tasks import Grading, Task, validate

Change = tuple[str, ast.AST, ast.AST]  # operator, node, replacement

# fmt: off
_COMPARISONS: Mapping[type[ast.cmpop], Sequence[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Eq: [ast.NotEq], ast.Is: [ast.IsNot],
    ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt], ast.NotEq: [ast.Eq], ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn], ast.NotIn: [ast.In],
}
_ARITHMETIC: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
}
# fmt: on
_SIMPLE = ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Break, ast.Continue
MIN_DETECTED_PERCENT = 99
LARGE_VALUES = 1024, 2048


@dataclass(frozen=True)
class Mutant:
    """A correct solution with one change. `text` is the whole content of the changed file."""

    file: str
    line: int
    unit: str
    operator: str
    change: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.change} ({self.operator}, in {self.unit})"


# --- mutation operators ---


def _edit(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    vars(new).update(fields)
    return new


def _replaced(members: Sequence[object], at: int, *new: object) -> list[object]:
    return [*members[:at], *new, *members[at + 1 :]]


def _changes(node: ast.AST) -> Iterator[Change]:  # noqa: C901 - a case for each kind of node
    """Yield all possible changes to a node or to one of its parts."""
    match node:
        case ast.Compare(ops=ops, comparators=right):
            for at, op in enumerate(ops):
                for other in _COMPARISONS[type(op)]:
                    yield "comparison", node, _edit(node, ops=_replaced(ops, at, other()))
            is_equality = [*map(type, ops)] == [ast.Eq]
            if is_equality and ast.Subscript in {type(node.left), type(right[0])}:
                for value in LARGE_VALUES:
                    new = {"ops": [*ops, ast.NotEq()], "comparators": [*right, ast.Constant(value)]}
                    yield "large value", node, _edit(node, **new)
        case ast.BoolOp(op=op, values=values):
            yield "and, or", node, _edit(node, op=ast.Or() if type(op) is ast.And else ast.And())
            for at in range(len(values)):
                yield "and, or", node, _edit(node, values=_replaced(values, at))
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _ARITHMETIC:
            yield "arithmetic", node, _edit(node, op=_ARITHMETIC[type(op)]())
            if isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Name):
                yield _clamped(node, node.target, ast.BinOp(node.target, op, node.value))
        case ast.Assign(
            targets=[ast.Attribute() | ast.Subscript() as target], value=ast.BinOp() as v
        ):
            if ast.unparse(target) == ast.unparse(v.left):
                yield _clamped(node, target, v)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "sign, not", node, operand
        case ast.Constant(value=bool(value)):
            yield "constant", node, ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield "constant", node, ast.Constant(value + 1)
            yield "constant", node, ast.Constant(value - 1)
        case ast.Subscript(slice=ast.Slice(step=ast.AST()) as part):
            yield "slice", node, _edit(node, slice=_edit(part, step=None))
        case ast.Call():
            yield from _calls(node)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Compare):
                yield "condition", test, ast.UnaryOp(ast.Not(), test)
            yield from _forgotten(node)
        case ast.For(iter=members) | ast.comprehension(iter=members):
            if getattr(getattr(members, "func", None), "id", "") == "range":
                return
            listed = ast.Call(ast.Name("list"), [members], [])
            for part in (ast.Slice(ast.Constant(1)), ast.Slice(None, ast.Constant(-1))):
                yield "first, last", members, ast.Subscript(listed, part)
        case ast.Return():
            yield "return", node, ast.Return(ast.Constant(None))
    if isinstance(node, _SIMPLE):
        yield "statement", node, ast.Pass()


def _clamped(node: ast.stmt, target: ast.expr, sum_: ast.BinOp) -> Change:
    """Return a mutation that caps a sum at 2048, or keeps a difference from going below 0."""
    name, bound = ("max", 0) if isinstance(sum_.op, ast.Sub) else ("min", LARGE_VALUES[-1])
    clamped = ast.Call(ast.Name(name), [ast.Constant(bound), sum_], [])
    return "clamp", node, ast.Assign([target], clamped, lineno=node.lineno)


def _calls(node: ast.Call) -> Iterator[Change]:
    """Yield mutations of a call, such as a range that is off by one or swapped arguments."""
    args, name = node.args, getattr(node.func, "id", "")
    if name in {"min", "max"} and len(args) > 1:
        yield "clamp", node, _edit(node, func=ast.Name("max" if name == "min" else "min"))
        yield from (("clamp", node, each) for each in args)
    elif name == "range":
        for at, step in ((1, 1), (1, -1), (0, 1)) if args[1:] else ((0, 1), (0, -1)):
            new = ast.BinOp(args[at], ast.Add(), ast.Constant(step))
            yield "range", node, _edit(node, args=_replaced(args, at, new))
    elif len(args) > 1:
        yield "arguments", node, _edit(node, args=[args[1], args[0], *args[2:]])


def _forgotten(node: ast.AST) -> Iterator[Change]:
    """Yield a change that resets a flag before the ``if`` statement that sets the flag."""
    match node:
        case ast.If(test=test, body=[*_, ast.Assign([target], ast.Constant(value=True))]):
            no = ast.Constant(False)
            if isinstance(target, ast.Attribute):
                names = [target.value, ast.Constant(target.attr), no]
                cleared: ast.expr = ast.Call(ast.Name("setattr"), names, [])
            elif isinstance(target, ast.Name):
                cleared = ast.NamedExpr(target, no)
            else:
                return
            yield "has been", test, ast.BoolOp(ast.Or(), [cleared, test])


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a program, except annotations, decorators, f-strings and docstrings."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if text or isinstance(node, ast.JoinedStr):
        return
    yield node
    for name, part in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list"}:
            for child in part if isinstance(part, list) else [part]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child)


def _bytecode(text: str) -> CodeType | None:
    """Compile a program without line numbers, or return None if it has a syntax error."""

    def bare(code: CodeType) -> CodeType:
        parts = tuple(bare(c) if isinstance(c, CodeType) else c for c in code.co_consts)
        return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=parts)

    try:
        return bare(compile(text, "", "exec", optimize=2, dont_inherit=True))
    except SyntaxError:
        return None


def mutants_of(solution: Path) -> list[Mutant]:
    """Return all mutants of a solution whose bytecode differs from the solution's."""
    found = []
    for path in files_of_solution(solution):
        text = path.read_text("utf-8")
        seen = {_bytecode(text)}
        for unit, part in units(ast.parse(text)):
            for operator, old, new in chain.from_iterable(map(_changes, _nodes(part))):
                change, changed = _spliced(text.split("\n"), old, new)
                code = _bytecode(changed)
                if code is not None and code not in seen:
                    seen.add(code)
                    line = getattr(old, "lineno", 0)
                    found.append(Mutant(path.name, line, unit, operator, change, changed))
    return found


def _spliced(lines: list[str], old: Any, new: ast.AST) -> tuple[str, str]:
    """Replace the node `old` in a program; return a description and the new program."""
    written = f"({ast.unparse(new)})" if isinstance(new, ast.expr) else ast.unparse(new)
    first, last = lines[old.lineno - 1].encode(), lines[old.end_lineno - 1].encode()
    after = first[: old.col_offset].decode() + written + last[old.end_col_offset :].decode()
    before = " ".join(" ".join(lines[old.lineno - 1 : old.end_lineno]).split())
    text = [*lines[: old.lineno - 1], after, *lines[old.end_lineno :]]
    return f"{before} → {after.strip()}", "\n".join(text)


# --- exempt mutants ---


class Exempt(msgspec.Struct, forbid_unknown_fields=True):
    """An ``[[exempt]]`` entry in a solution's file, for mutants that checks need not detect."""

    reason: str
    where: str = ""
    change: str = ""
    times: int = 1

    def matches(self, mutant: Mutant) -> bool:
        """Return whether this entry exempts a mutant."""
        inside = not self.where or f"{mutant.unit}.".startswith(f"{self.where}.")
        return inside and self.change in str(mutant)


def without_exempt(mutants: Sequence[Mutant], solution: Path) -> list[Mutant]:
    """Return the mutants that are not listed as exempt in the file next to the solution.

    Raises:
        CourseError: If an entry has no reason, or matches an unexpected number of mutants.
    """
    path, left = solution.with_suffix(".toml"), list(mutants)
    data = read_toml(path, CourseError) if path.exists() else {}
    kind = dict[Literal["exempt"], list[Exempt]]
    for entry in convert(data, kind, CourseError, path).get("exempt", ()):
        count = sum(map(entry.matches, left))
        if not entry.reason.strip() or not count or (entry.change and count != entry.times):
            what = f"{entry.where} {entry.change!r}"
            raise CourseError(f"{path}: {what} needs a reason, or matches {count} mutants")
        left = [mutant for mutant in left if not entry.matches(mutant)]
    return left


def solutions_in(folder: Path) -> list[Path]:
    """Return the solutions in a folder, and raise `CourseError` if there are none."""
    paths = sorted(folder.glob("[!_.]*"))
    found = [path for path in paths if path.suffix == ".py" or path.is_dir()]
    if not found:
        note = "the solutions for the courses of py2048 are only in its repository"
        raise CourseError(f"{folder} contains no solution ({note})")
    return found


def solution_in(folder: Path) -> Path:
    """Return the first solution, preferring those with a file of exempt mutants."""
    return min(solutions_in(folder), key=lambda path: not path.with_suffix(".toml").exists())


def choose(solution: Path, match: str, count: int) -> list[Mutant]:
    """Select at most `count` mutants whose report line contains `match`, deterministically."""
    mutants = [m for m in without_exempt(mutants_of(solution), solution) if match in str(m)]
    drawn = random.Random(0).sample(range(len(mutants)), min(count, len(mutants)))
    if not drawn:
        raise CourseError(f"no mutant of {solution} contains {match!r}")
    return [mutants[number] for number in sorted(drawn)]


# --- grading ---


def check_mutants(
    mutants: Sequence[Mutant], solution: Path, grading: Grading, sandbox: SandboxConfig
) -> Iterator[tuple[Mutant, bool, list[str]]]:
    """Grade the mutants of a solution in parallel, and yield the results in order.

    Each result is (mutant, whether it was detected, ids of unrelated tasks that lost marks).

    Raises:
        CourseError: If the solution itself loses marks.
    """
    validate(grading)
    belongs = owners(grading, solution)
    _, lost = _grade_mutant(solution, None, grading, sandbox, set())
    if lost:
        raise CourseError(f"{solution} loses marks in {lost}, so it is not a right solution")

    def judged(mutant: Mutant) -> tuple[Mutant, bool, list[str]]:
        return mutant, *_grade_mutant(solution, mutant, grading, sandbox, belongs[mutant.unit])

    with sandbox.pool() as pool:
        yield from pool.map(judged, mutants)


def _grade_mutant(
    solution: Path, mutant: Mutant | None, grading: Grading, sandbox: SandboxConfig, own: set[str]
) -> tuple[bool, list[str]]:
    """Return whether a task in `own` loses marks, and the ids of others that lose marks.

    If there is no mutant, the solution itself is graded.
    """

    def loses(task: Task) -> bool:  # stops at the first failed check
        single = (replace(task, checks=(check,)) for check in task.checks if check.weight)
        return not all(grade_task(one, session).earned for one in single)

    with tempfile.TemporaryDirectory() as place, submission_folder() as folder:
        path = Path(place, solution.name)
        copy_solution(solution, path, {mutant.file: mutant.text} if mutant else {})
        (submission,) = collect([path], grading, Path(place, "unpacked"))
        prepared = prepare(submission, grading, folder)
        with SubmissionSession(prepared, sandbox) as session:
            try:
                load_program(session)
            except Unreadable:
                return True, []
            tasks = prepared.grading.tasks
            detected = any(loses(task) for task in tasks if task.id in own)
            return detected, [task.id for task in tasks if task.id not in own and loses(task)]
