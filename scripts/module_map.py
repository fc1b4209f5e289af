"""Keep the list of modules in ARCHITECTURE.md equal to the modules' own first lines.

``module_map.py`` writes the list, which ``make format`` does; ``module_map.py --check`` says
whether it is up to date.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "py2048"
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN = "<!-- modules: written by scripts/module_map.py -->"
END = "<!-- end of modules -->"


def layers() -> list[str]:
    """Return the packages and modules in the order of the import contract, the top first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [name.strip(" ()") for row in rows for name in row.split("|")]


def summary(path: Path) -> str:
    """Return the first paragraph of a module's docstring as one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def line(path: Path, depth: int = 0) -> str:
    """Return the item for a module or, by its ``__init__``, for a package."""
    name = path.relative_to(PACKAGE).as_posix().removesuffix("__init__.py")
    return f"{'  ' * depth}- `{name}`: {summary(path)}"


def items(folder: Path, depth: int = 0) -> Iterator[str]:
    """Yield the items of a package: its own, its modules', its packages'."""
    yield line(folder / "__init__.py", depth)
    for path in sorted(folder.glob("*.py")):
        if path.name not in ("__init__.py", "__main__.py"):
            yield line(path, depth + 1)
    for path in sorted(folder.glob("*/__init__.py")):
        yield from items(path.parent, depth + 1)


def module_map() -> str:
    """Return the whole list."""
    found: list[str] = []
    for layer in layers():
        if (PACKAGE / layer / "__init__.py").exists():
            found += items(PACKAGE / layer)
        elif (PACKAGE / f"{layer}.py").exists():
            found.append(line(PACKAGE / f"{layer}.py"))
    return "\n".join(found)


def page_with_map(page: str) -> str:
    """Return the text of the page with the list as it should be."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{module_map()}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Write the list, or check it."""
    page = PAGE.read_text(encoding="utf-8")
    wanted = page_with_map(page)
    if arguments == ["--check"]:
        if page != wanted:
            print("ARCHITECTURE.md does not list the modules as they are: run make format")
        return int(page != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
