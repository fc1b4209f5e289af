"""Loading a submission's file, as far as it will load.

Three ways, each more forgiving than the one before: ``whole`` runs the file as Python would;
``each`` runs it statement by statement and leaves out those that fail or take too long;
``quiet`` runs only imports, definitions and assignments, for files that start a game or end
the process when they are imported.
"""

from __future__ import annotations

import ast
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Guard = Callable[[float, Callable[[], Any]], tuple[Any, BaseException | None]]

QUIET = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
PATIENCE = 0.5  # seconds for one statement in the way ``each``


class Loader:
    """Loads `file` of `folder` as the module `name`.

    `guard` runs a function for at most some seconds and gives its result and its error.
    """

    def __init__(self, name: str, folder: str, file: str, guard: Guard) -> None:
        self.folder = folder
        self.file = file
        self.guard = guard
        self.module = ModuleType(name)
        self.module.__file__ = file
        sys.modules[name] = self.module

    def load(self, way: str, skip: Sequence[int], seconds: float) -> list[dict[str, Any]]:
        """Run the file; return what was left out beside the statements at the lines `skip`."""
        with open(f"{self.folder}/{self.file}", "rb") as source:
            tree = ast.parse(source.read(), self.file)
        if way == "whole":
            error = self.guard(seconds, lambda: self.run(tree.body))[1]
            return [] if error is None else [self.note(error, tree.body[0])]
        futures: list[ast.stmt] = [s for s in tree.body if is_future(s)]
        self.run(futures)
        wanted = [s for s in tree.body if s not in futures and s.lineno not in skip]
        found = [self.part(statement, futures, way) for statement in wanted]
        return [note for note in found if note]

    def part(self, statement: ast.stmt, futures: list[ast.stmt], way: str) -> dict[str, Any] | None:
        """Run one statement, or say why it is left out."""
        if way == "quiet" and not isinstance(statement, QUIET):
            harmless = isinstance(statement, ast.If) or is_docstring(statement)
            return None if harmless else left_out(statement, statement.lineno, "", "")
        error = self.guard(PATIENCE, lambda: self.run([*futures, statement]))[1]
        return self.note(error, statement) if error is not None else None

    def run(self, statements: list[ast.stmt]) -> None:
        """Run `statements` in the module."""
        exec(compile(ast.Module(statements, []), self.file, "exec"), self.module.__dict__)

    def note(self, error: BaseException, statement: ast.stmt) -> dict[str, Any]:
        """What went wrong in a statement, and on which line of the student's file."""
        file, line = place_of(error, self.file, self.folder)
        line = line if file == self.file and line else statement.lineno
        return left_out(statement, line, type(error).__name__, words_of(error))


def is_future(statement: ast.stmt) -> bool:
    """Whether a statement imports from ``__future__``."""
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is only a string."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def left_out(statement: ast.stmt, line: int, error: str, message: str) -> dict[str, Any]:
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
