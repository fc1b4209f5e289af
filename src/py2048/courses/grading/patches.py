"""Right versions of what a task builds on, taken from our own reference solutions.

They run inside the submission's process, where a program can look into everything. So a patch
holds the functions that it lends and what these need, and nothing of the rest of a solution, and
goes there as compiled code without comments and docstrings; `SubmissionSession.start_check` ends
the processes that hold it.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

from py2048.core import board, direction, errors
from py2048.core.rules import Merging

# What the solutions use of py2048, which cannot be imported beside a submission.
_PARTS: tuple[Callable[..., object], ...] = (
    *(errors.Py2048Error, errors.CourseError, Merging, direction.Direction),
    *(board.LineSlide, board.slide_line, board.lines, board.from_lines),
    *(board.slide, board.has_equal_neighbours),
)
_ENGINE = "\n".join(
    [
        "from enum import Enum",
        "from itertools import pairwise",
        "from typing import NamedTuple",
        *(inspect.getsource(part) for part in _PARTS),
    ]
)


# The functions that follow run beside a submission. `lent` defines the right versions.


def _uses(name: str, known: Any) -> Any:
    """Return the names that one of the `known` functions uses, itself or through others."""
    from types import CodeType, FunctionType

    found: set[str] = set()
    parts = [known.get(name)]
    for part in parts:
        code = part.__code__ if type(part) is FunctionType else part
        if type(code) is CodeType:
            new = {*code.co_names} - found
            found |= new
            parts += [*map(known.get, new), *code.co_consts]
    return found


def _lend(place: Any, module: Any, lent: Any, names: Any, unless_using: str) -> None:
    """Put right versions of `names` into the class or module `place`, and into its tables."""

    class Names(dict):  # type: ignore[type-arg]
        def __missing__(self, name: str) -> Any:
            return vars(module)[name]

    parts: Any = Names(__name__="right")
    exec(lent.__code__, parts)
    ours = vars(parts[place.__name__]) if isinstance(place, type) else parts
    known = vars(module) | vars(place)
    ours = {name: ours[name] for name in names if unless_using not in _uses(name, known)}
    for name in names:
        parts.pop(name, None)
    for name, new in ours.items():
        old = vars(place).get(name)
        setattr(place, name, new)
        tables = [v for k, v in vars(module).items() if k[0] != "_" and type(v) is dict]
        for table in tables if old is not None else []:
            for key in [key for key, value in table.items() if value is old]:
                table[key] = new


def right_versions(
    solution: ModuleType,
    names: Collection[str],
    module: str,
    *,
    place: str = "",
    document: Collection[str] = (),
    unless_using: str = "",
) -> str:
    """Return code that puts functions of our `solution` into a submission in place of its own.

    They go into the submission's `module`, or to the class `place` in it. The names of the
    `document` are looked up there when they run, so that the submission's own versions and ours
    find each other, and also take their place in its tables. A function stays the submission's
    own where that is `unless_using` another, itself or through others: of two that only call each
    other, either would hold with the other one put right.
    """
    definitions = _definitions(solution)
    kind = place.rpartition(".")[2]
    if kind:
        definitions = {**definitions, kind: _only(definitions[kind], names)}
    lent = _lent(definitions, [kind] if kind else names, {*document} - {*names})
    arguments = place or module, module, "_lent", repr(tuple(names)), repr(unless_using)
    return f"{ast.unparse(lent)}\n{calling(_lend, *arguments, using=[_uses])}"


def compiled(patch: str) -> CodeType:
    """Return a patch as a submission's process gets it: without its text and its docstrings."""
    return compile(patch, "<grader>", "exec", optimize=2)


@functools.cache
def _definitions(solution: ModuleType) -> dict[str, ast.stmt]:
    """Return the statement that defines each name of a solution and of its parts of the engine."""
    tree = _Bare().visit(ast.parse(f"{_ENGINE}\n{inspect.getsource(solution)}"))
    return {name: statement for statement in tree.body for name in _defined_by(statement)}


class _Bare(ast.NodeTransformer):
    """Leaves out what a program needs only to be read and checked, and imports of py2048."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Drop the type of a parameter."""
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Drop the type of a function's result."""
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Drop the type of an assignment; the field of a named tuple needs some."""
        if node.value is not None:
            return ast.Assign([node.target], node.value, lineno=node.lineno)
        node.annotation = ast.Constant(None)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | None:
        """Make a module beside the solution one beside the submission."""
        package = (node.module or "").split(".")
        if package[:2] == ["py2048", "courses"]:
            return ast.Import(node.names)
        return None if package[0] in {"py2048", "__future__"} else node


def _defined_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)


def _lent(
    definitions: Mapping[str, ast.stmt], names: Collection[str], theirs: Collection[str]
) -> ast.FunctionDef:
    """Return a function that defines `names` and what they need, but for `theirs`, as globals."""
    found: dict[str, ast.stmt] = {}
    left = [*names]
    while left:
        name = left.pop()
        if name in definitions and name not in theirs and name not in found:
            found[name] = definitions[name]
            left += [node.id for node in ast.walk(found[name]) if isinstance(node, ast.Name)]
    body = list(dict.fromkeys(found[name] for name in definitions if name in found))
    made = [name for statement in body for name in _defined_by(statement)]
    (function,) = ast.parse(f"def _lent():\n    global {', '.join(made)}").body
    assert isinstance(function, ast.FunctionDef)
    function.body += body
    return function


def _only(definition: ast.stmt, names: Collection[str]) -> ast.ClassDef:
    """Return a class with no other methods than `names`."""
    assert isinstance(definition, ast.ClassDef)
    kept = copy.copy(definition)
    methods = [part for part in kept.body if isinstance(part, ast.FunctionDef)]
    kept.body = [method for method in methods if method.name in names]
    return kept


def calling(
    function: Callable[..., object],
    *arguments: str,
    result: str = "",
    using: Sequence[Callable[..., object]] = (),
) -> str:
    """Return code that defines a function and those it is `using`, and calls it.

    It runs beside a submission, so it can use nothing but the names that are there, and its
    arguments are code, too. It goes there without types and docstrings.
    """
    definitions: list[str] = []
    for part in (*using, function):
        (definition,) = _Bare().visit(ast.parse(inspect.getsource(part))).body
        if ast.get_docstring(definition) is not None:
            del definition.body[0]
        lines = ast.unparse(definition).split("\n")
        definitions += filter(None, lines)  # Python's prompt ends a block at an empty line
    call = f"{function.__name__}({', '.join(arguments)})"
    return "\n".join([*definitions, f"{result and f'{result} = '}{call}", ""])
