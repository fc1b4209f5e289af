"""Reference patches: code that replaces a submission's functions with correct ones.

Patches run inside the submission's process, where a program can inspect everything. To reveal as
little as possible, a patch contains only the functions that it installs and the functions that they
call. The code is compiled without comments and docstrings. `SubmissionSession.start_check` ends all
processes that have run a patch.
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

# Modules of py2048 that solutions use. Submissions cannot import py2048, so patches contain copies
# of the necessary code.
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


# The next two functions run inside the submission's process.


def _uses(name: str, known: Any) -> Any:
    """Return the names that a function uses, directly or through other `known` functions."""
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


def _install(place: Any, module: Any, define: Any, names: Any, unless_using: str) -> None:
    """Replace functions in a class or module, and in the module's dictionaries."""

    class Names(dict):  # type: ignore[type-arg]
        def __missing__(self, name: str) -> Any:
            return vars(module)[name]

    parts: Any = Names(__name__="right")
    exec(define.__code__, parts)
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
    """Return code that replaces a submission's functions with correct ones from `solution`.

    Args:
        solution: Module with the correct functions.
        names: Functions to replace.
        module: Name of the submission's module.
        place: Class whose methods are replaced, or an empty string for module functions.
        document: Names defined by the assignment. Reference functions use the submission's
            definitions of these names, unless they are replaced.
        unless_using: Function whose direct and indirect callers are not replaced. Otherwise, two
            wrong functions that only call each other would both pass.
    """
    definitions = _definitions(solution)
    kind = place.rpartition(".")[2]
    if kind:
        definitions = {**definitions, kind: _only(definitions[kind], names)}
    define = _definer(definitions, [kind] if kind else names, {*document} - {*names})
    arguments = place or module, module, "_define", repr(tuple(names)), repr(unless_using)
    return f"{ast.unparse(define)}\n{calling(_install, *arguments, using=[_uses])}"


def compiled(patch: str) -> CodeType:
    """Compile a patch without its docstrings."""
    return compile(patch, "<grader>", "exec", optimize=2)


@functools.cache
def _definitions(solution: ModuleType) -> dict[str, ast.stmt]:
    """Map names defined in a solution or copied from py2048 to their definitions."""
    tree = _Minifier().visit(ast.parse(f"{_ENGINE}\n{inspect.getsource(solution)}"))
    return {name: statement for statement in tree.body for name in _defined_by(statement)}


class _Minifier(ast.NodeTransformer):
    """Removes type annotations and imports of py2048."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Drop a parameter's annotation."""
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Drop a return annotation."""
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Remove a variable's annotation, or replace it with None if there is no value.

        Some annotation must stay in this case, because it may declare the field of a named tuple.
        """
        if node.value is not None:
            return ast.Assign([node.target], node.value, lineno=node.lineno)
        node.annotation = ast.Constant(None)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | None:
        """Replace imports from sibling modules with plain imports, and remove py2048 imports."""
        package = (node.module or "").split(".")
        if package[:2] == ["py2048", "courses"]:
            return ast.Import(node.names)
        return None if package[0] in {"py2048", "__future__"} else node


def _defined_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names a statement defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)


def _definer(
    definitions: Mapping[str, ast.stmt], names: Collection[str], theirs: Collection[str]
) -> ast.FunctionDef:
    """Return a function that defines `names` and their dependencies as globals.

    Names in `theirs` are left out, because the submission defines them itself.
    """
    found: dict[str, ast.stmt] = {}
    left = [*names]
    while left:
        name = left.pop()
        if name in definitions and name not in theirs and name not in found:
            found[name] = definitions[name]
            left += [node.id for node in ast.walk(found[name]) if isinstance(node, ast.Name)]
    body = list(dict.fromkeys(found[name] for name in definitions if name in found))
    defined = [name for statement in body for name in _defined_by(statement)]
    (function,) = ast.parse(f"def _define():\n    global {', '.join(defined)}").body
    assert isinstance(function, ast.FunctionDef)
    function.body += body
    return function


def _only(definition: ast.stmt, names: Collection[str]) -> ast.ClassDef:
    """Return a class with all methods removed except `names`."""
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
    """Return code that defines a function and its helpers, and calls the function.

    The code runs in the submission's process, so the function can use only names that are defined
    there. The arguments are source code. Annotations and docstrings are removed.
    """
    definitions: list[str] = []
    for part in (*using, function):
        (definition,) = _Minifier().visit(ast.parse(inspect.getsource(part))).body
        if ast.get_docstring(definition) is not None:
            del definition.body[0]
        lines = ast.unparse(definition).split("\n")
        definitions += filter(None, lines)  # At the interactive prompt, an empty line ends a block.
    call = f"{function.__name__}({', '.join(arguments)})"
    return "\n".join([*definitions, f"{result and f'{result} = '}{call}", ""])
