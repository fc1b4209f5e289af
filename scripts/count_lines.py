"""Count files and lines of Python: neither blank, nor comments, nor docstrings.

    count_lines.py            the table of packages, the tests and the words of the pages
    count_lines.py --files    every file as well

`tests/test_architecture.py` holds the counts against a budget for each package.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "py2048"
TESTS = ROOT / "tests"


def code_lines(path: Path) -> int:
    """Count the lines of the Python file at `path` that hold code."""
    text = path.read_text(encoding="utf-8")
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


def counted(folder: Path) -> tuple[int, int]:
    """Count the Python files in `folder`, or a file itself, and their lines of code."""
    paths = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    return len(paths), sum(map(code_lines, paths))


def package_counts() -> dict[str, tuple[int, int]]:
    """Count the files and lines of each package and module of py2048."""
    parts = [
        p for p in sorted(PACKAGE.iterdir()) if p.suffix == ".py" or (p / "__init__.py").is_file()
    ]
    return {part.stem: counted(part) for part in parts}


def word_count() -> int:
    """Count the words of the pages: those of the root and the documentation."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    kept = (page for page in pages if not {"_build", "generated"} & set(page.parts))
    return sum(len(page.read_text(encoding="utf-8").split()) for page in kept)


def main() -> None:
    """Print the table."""
    if "--files" in sys.argv[1:]:
        for path in [*sorted(PACKAGE.rglob("*.py")), *sorted(TESTS.rglob("*.py"))]:
            print(f"{code_lines(path):7,}  {path.relative_to(ROOT)}")
    rows = {**package_counts(), "all of py2048": counted(PACKAGE), "tests": counted(TESTS)}
    for name, (files, lines) in rows.items():
        print(f"{name:14} {files:4} files {lines:7,} lines")
    print(f"{'pages':14} {word_count():18,} words")


if __name__ == "__main__":
    main()
