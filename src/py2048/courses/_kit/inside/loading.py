"""Loading a submission's file, as far as it will load.

Three ways, each more forgiving than the one before: ``whole`` runs the file as Python would;
``each`` runs it statement by statement and leaves out those that fail or take too long;
``quiet`` runs only imports, definitions and assignments, for files that start a game or end
the process when they are imported.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

QUIET = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
PATIENCE = 0.5  # seconds for one statement in the way ``each``

Guard = Callable[[float, Callable[[], Any]], tuple[Any, BaseException | None]]


def load(name: str, path: Path, request: dict[str, Any], guard: Guard) -> dict[str, Any]:
    """Load `path` as the module `name`; say what could not be run.

    `request` holds the `way`, the `seconds` it may take, and the lines of the statements to
    `skip`. `guard` runs a function for at most some seconds: its result and its error.
    """
    module = types.ModuleType(name)
    module.__file__ = path.name
    sys.modules[name] = module
    tree = ast.parse(path.read_bytes(), path.name)
    if request["way"] == "whole":
        error = guard(request["seconds"], lambda: run(tree.body, path.name, module))[1]
        return {"left_out": [] if error is None else [note(error, path, tree.body[0])]}
    return {"left_out": load_parts(tree, path, module, request, guard)}


def load_parts(
    tree: ast.Module, path: Path, module: types.ModuleType, request: dict[str, Any], guard: Guard
) -> list[dict[str, Any]]:
    """Run the statements one by one; give back those that were left out, and why."""
    futures: list[ast.stmt] = [s for s in tree.body if is_future(s)]
    left_out = []
    for statement in tree.body:
        if statement.lineno in request["skip"]:
            continue
        if request["way"] == "quiet" and not isinstance(statement, QUIET):
            if not isinstance(statement, ast.If) and not docstring(statement):
                left_out.append(left(statement, statement.lineno, "", ""))
            continue
        part = futures if statement in futures else [*futures, statement]
        error = guard(PATIENCE, lambda part=part: run(part, path.name, module))[1]  # type: ignore[misc]
        if error is not None:
            left_out.append(note(error, path, statement))
    return left_out


def run(statements: list[ast.stmt], file: str, module: types.ModuleType) -> None:
    """Run `statements` in `module`."""
    exec(compile(ast.Module(statements, []), file, "exec"), module.__dict__)


def is_future(statement: ast.stmt) -> bool:
    """Whether a statement imports from ``__future__``."""
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def docstring(statement: ast.stmt) -> bool:
    """Whether a statement is only a string."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def note(error: BaseException, path: Path, statement: ast.stmt) -> dict[str, Any]:
    """What went wrong while loading, and on which line of the student's file."""
    file, line = place_of(error, path.name, str(path.parent))
    line = line if file == path.name and line else statement.lineno
    return left(statement, line, type(error).__name__, words_of(error))


def left(statement: ast.stmt, line: int, error: str, message: str) -> dict[str, Any]:
    """A statement that was left out: where it begins, where it failed, and how."""
    return {"statement": statement.lineno, "line": line, "error": error, "message": message}


def words_of(error: BaseException) -> str:
    """The message of an error, whatever its `__str__` does."""
    try:
        return str(error)[:500]
    except Exception as other:  # noqa: BLE001 - a submission's own exception may do anything
        return f"(its message raised {type(other).__name__})"


def place_of(error: BaseException, file: str, folder: str) -> tuple[str, int]:
    """The last file and line of the submission that the error passed through, or ("", 0)."""
    place = "", 0
    trace = error.__traceback__
    for _ in range(5000):
        if trace is None:
            break
        name = trace.tb_frame.f_code.co_filename
        if name == file or name.startswith(folder):
            place = name.removeprefix(folder).lstrip("/"), trace.tb_lineno
        trace = trace.tb_next
    return place
