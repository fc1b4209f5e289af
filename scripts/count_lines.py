"""Count lines of code: lines other than blank lines, comments and docstrings.

    count_lines.py            each package, and other Python and JavaScript
    count_lines.py --files    every file as well

`tests/test_architecture.py` compares the counts with budgets. The sample submissions in
`tests/courses/*/right` are test data and are not counted.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "py2048"
SCRIPTS = PACKAGE / "server" / "static" / "js"
_JS_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)$", re.MULTILINE | re.DOTALL)


def code_lines(path: Path) -> int:
    """Count the lines of code of a Python or JavaScript file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return sum(map(bool, map(str.strip, _JS_COMMENT.sub("", text).splitlines())))
    stripped = enumerate(map(str.strip, text.splitlines()), 1)
    lines = {number for number, line in stripped if line and not line.startswith("#")}
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            case ast.Constant(value=str()) | ast.JoinedStr():
                lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines - docstrings)


def python_files(path: Path) -> list[Path]:
    """Return the Python files in a folder, or the file itself."""
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def counted(paths: Iterable[Path]) -> tuple[int, int]:
    """Count files and their lines of code."""
    lines = list(map(code_lines, paths))
    return len(lines), sum(lines)


def groups() -> dict[str, list[Path]]:
    """Return the files of each package, of all packages, and of the other folders."""
    rooms = {
        path.stem: python_files(path)
        for path in sorted(PACKAGE.iterdir())
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    folders = "benchmarks", "scripts", "examples"
    tests = python_files(ROOT / "tests")
    return {
        **rooms,
        "whole": python_files(PACKAGE),
        "javascript": [
            path for path in sorted(SCRIPTS.glob("*.js")) if not path.stem.startswith("messages-")
        ],
        **{name: python_files(ROOT / name) for name in folders},
        "tests": [path for path in tests if "right" not in path.relative_to(ROOT).parts],
    }


def main() -> None:
    """Print the counts."""
    for name, paths in groups().items():
        files, lines = counted(paths)
        print(f"{name:14} {files:4} files {lines:7,} lines")
        if "--files" in sys.argv[1:]:
            for path in paths:
                print(f"{code_lines(path):21,} lines  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
