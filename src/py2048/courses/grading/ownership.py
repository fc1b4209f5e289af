"""Determine which tasks each function of a solution belongs to.

A function belongs to a task if the task's reference patches do not replace it. A helper function
belongs to the tasks of the functions that call it.
"""

from __future__ import annotations

import ast
import functools
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from py2048.courses.grading.tasks import Grading


def files_of_solution(solution: Path) -> list[Path]:
    """Return the Python files of a solution, given as a file or a folder."""
    return sorted(solution.glob("*.py")) if solution.is_dir() else [solution]


def copy_solution(solution: Path, target: Path, changed: Mapping[str, str]) -> None:
    """Copy a solution, with new texts for some of its files."""
    (shutil.copytree if solution.is_dir() else shutil.copy)(solution, target)
    for name, text in changed.items():
        (target / name if target.is_dir() else target).write_text(text, "utf-8")


def units(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the functions, methods and other statements of a program, with their names."""
    for statement in tree.body:
        place, parts = "", [statement]
        if isinstance(statement, ast.ClassDef):
            place, parts = f"{statement.name}.", statement.body
        for part in parts:
            target = getattr(part, "targets", [part])[0]
            yield place + (getattr(part, "name", "") or getattr(target, "id", "module")), part


@functools.cache
def patched_functions(patch: str) -> frozenset[tuple[str, str]]:
    """Return the functions that a patch replaces, as (module or class, name).

    Patches replace functions by assigning to attributes. Some patches define a function for this,
    and pass it the names of the functions to replace.
    """
    tree = ast.parse(patch)
    stored: dict[str, set[str]] = {}
    lent: set[tuple[str, str]] = set()
    for statement in tree.body:
        parts = list(ast.walk(statement))
        attributes = [part for part in parts if isinstance(part, ast.Attribute)]
        attributes = [part for part in attributes if isinstance(part.ctx, ast.Store)]
        if isinstance(statement, ast.FunctionDef):
            stored[statement.name] = {part.attr for part in attributes}
            continue
        lent |= {(_last_name(part.value), part.attr) for part in attributes}
        for call in parts:
            if isinstance(call, ast.Call) and (name := _last_name(call.func)) in stored:
                listed = [a for a in call.args if isinstance(a, ast.Tuple | ast.List | ast.Dict)]
                texts = {getattr(part, "value", "") for a in listed for part in ast.walk(a)}
                lent |= set(product(map(_last_name, call.args), stored[name] | texts))
    return frozenset(lent)


def _last_name(node: ast.AST) -> str:
    """Return the name of a variable or attribute."""
    name: str = getattr(node, "attr", getattr(node, "id", ""))
    return name


def _names_used(solution: Path) -> tuple[dict[str, set[str]], set[str]]:
    """Map each part of a solution to the names it uses; also return the solution's functions."""
    uses: dict[str, set[str]] = defaultdict(set)
    functions = set()
    for path in files_of_solution(solution):
        for unit, part in units(ast.parse(path.read_text("utf-8"))):
            uses[unit] |= {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(part)}
            functions |= {unit} if isinstance(part, ast.FunctionDef) else set()
    return uses, functions


def owners(grading: Grading, solution: Path) -> dict[str, set[str]]:
    """Map each function, method or statement of a solution to the ids of its tasks.

    Statements outside of functions belong to all tasks, as do functions whose task is unknown. The
    functions named in the examples of a check without patches belong to the check's task.
    """
    uses, functions = _names_used(solution)
    checks = []
    for task in grading.tasks:
        for check in task.checks:
            lent = frozenset().union(*map(patched_functions, task.patches_of(check)))
            text = "".join(example.given + example.code for example in check.listed())
            checks.append((task.id, lent, text))
    every = {task for task, _, _ in checks}
    known = frozenset().union(*(lent for _, lent, _ in checks))

    def of(unit: str) -> set[str]:
        found, reached, left = set(), {unit}, {unit}
        while left:
            one = left.pop()
            place, _, name = one.rpartition(".")
            key, called = (place or grading.module, name), place if name == "__init__" else name
            users = {user for user in uses if called in uses[user] and user != one}
            if key in known:
                users = set()
                for task, lent, text in checks:
                    if key not in lent and (lent or not text or name in text):
                        found.add(task)
            elif not users:
                return every
            left |= users - reached
            reached |= users
        return found

    return {unit: of(unit) if unit in functions else every for unit in uses}
