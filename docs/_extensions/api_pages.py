"""Write the reference pages of the Python API from the sources themselves.

A module that is added to the package gets its section without a line here. The pages go to
``reference/generated`` before each build.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from py2048.presentation.actions import UserAction

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "py2048"
WITHOUT_PAGES = {"__main__", "cli", "app", "server", "courses"}
"""Rooms that programs do not build on: screens, courses and commands have pages of their own."""

DIRECTIVE = ".. automodule:: {}\n   :members:\n   :show-inheritance:\n   :ignore-module-all:"
"""Each object has its place where it is defined, and none where it is only offered again."""


def layers() -> list[str]:
    """Return the packages and modules that exist, in the order of the import contract."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name.strip(" ()") for row in rows for name in row.split("|")]
    return [name for name in names if importlib.util.find_spec(f"py2048.{name}")]


def documented_layers() -> list[str]:
    """Return the layers that have a page, from the bottom."""
    return [name for name in reversed(layers()) if name not in WITHOUT_PAGES]


def public_modules(name: str) -> Iterator[str]:
    """Yield the module `name` and the public modules below it."""
    yield name
    folder = ROOT / "src" / Path(*name.split("."))  # not imported: what it needs may be an extra
    for found in pkgutil.iter_modules([str(folder)]):
        if not found.name.startswith("_") and found.name != "migrations":
            yield from public_modules(f"{name}.{found.name}")


def layer_page(layer: str) -> str:
    """Return the page of one layer: its own docstring, then each of its modules."""
    parts = []
    for name in public_modules(f"py2048.{layer}"):
        title = f"# `{name}`" if not parts else f"## `{name}`"
        parts.append(f"{title}\n\n```{{eval-rst}}\n{DIRECTIVE.format(name)}\n```\n")
    return "\n".join(parts)


def summary(path: Path) -> str:
    """Return the first paragraph of a module's docstring as one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def module_line(path: Path, depth: int = 0) -> str:
    """Return the item for a module or, by its ``__init__``, for a package."""
    name = path.relative_to(PACKAGE).as_posix().removesuffix("__init__.py")
    return f"{'  ' * depth}- `{name}`: {summary(path)}"


def module_lines(folder: Path, depth: int = 0) -> Iterator[str]:
    """Yield the items of a package: its own, its modules', its packages'."""
    yield module_line(folder / "__init__.py", depth)
    for path in sorted(folder.glob("*.py")):
        if path.name not in ("__init__.py", "__main__.py"):
            yield module_line(path, depth + 1)
    for path in sorted(folder.glob("*/__init__.py")):
        yield from module_lines(path.parent, depth + 1)


def modules_page() -> str:
    """Return the list of all modules, each with its first line, the top layer first."""
    items: list[str] = []
    for layer in layers():
        if (PACKAGE / layer).is_dir():
            items += module_lines(PACKAGE / layer)
        else:
            items.append(module_line(PACKAGE / f"{layer}.py"))
    return "# Modules\n\nIn `src/py2048/`, the top layer first.\n\n" + "\n".join(items) + "\n"


def contents_page(layers: list[str]) -> str:
    """Return the list of the layers' pages, the bottom layer first."""
    entries = "\n".join(f"layers/{layer}" for layer in layers)
    introduction = "Layer by layer, from the bottom; each builds on those above it in this list."
    return f"# Layers\n\n{introduction}\n\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n"


def facade_page() -> str:
    """Return the page of the names that `import py2048` offers."""
    facade = importlib.import_module("py2048")
    rows = []
    for name in facade.__all__:
        value = getattr(facade, name)
        summary = (value.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
        kind = "class" if isinstance(value, type) else "func"
        target = f"{value.__module__}.{value.__name__}"
        rows.append(f"   * - :{kind}:`{name} <{target}>`\n     - {summary}")
    table = ".. list-table::\n   :widths: 20 80\n\n" + "\n".join(rows)
    return f"# `py2048`\n\nEverything most programs need:\n\n```{{eval-rst}}\n{table}\n```\n"


def messages_page() -> str:
    """Return the list of all messages and values of the server, from the types that read them."""
    schema = importlib.import_module("py2048.server.schema")
    structs = [
        each
        for each in vars(schema).values()
        if isinstance(each, type)
        and issubclass(each, msgspec.Struct)
        and each is not msgspec.Struct
    ]
    _, components = msgspec.json.schema_components(structs, ref_template="{name}")
    parts = [
        "# Message reference",
        "Fields in brackets are optional; the others are always present.",
    ]
    for name, found in components.items():
        parts.append(f"## {name}\n\n{found.get('description', '')}")
        required = found.get("required", ())
        rows = [
            f"| {field if field in required else f'[{field}]'} | {shown(value)} |"
            for field, value in found.get("properties", {}).items()
        ]
        if rows:
            parts.append("\n".join(["| field | value |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def shown(value: dict[str, Any]) -> str:
    """Return what a JSON schema allows, in words."""
    match value:
        case {"description": str(description)}:
            return description
        case {"enum": list(names)}:
            return " or ".join(f"`{name}`" for name in names)
        case {"$ref": str(name)}:
            return f"[{name}](#{name.lower()})"
        case {"anyOf": list(options)}:
            return " or ".join(map(shown, options))
        case {"type": "array", "items": {} as items} if items:
            return f"a list of {shown(items)}"
    return str(value.get("type", "anything"))


def keys_page() -> str:
    """Return the tables of keys, from the tables of actions that the screens have."""
    from py2048.core.direction import Direction
    from py2048.presentation.actions import ACTIONS, PRACTICE_ACTIONS, REVIEW_ACTIONS

    def rows(actions: Iterable[UserAction]) -> str:
        lines = [
            f"| `{each.shown}` | {each.help}{'' if each.keys else ' (window)'} |"
            for each in actions
            if each.shown and each.name not in {*map(str, Direction), "undo", "redo"}
        ]
        return "\n".join(["| key | what it does |", "|---|---|", *lines])

    slides = "| `↑` `↓` `←` `→`, `W A S D`, `H J K L` | Slide |"
    undoing = [each for each in ACTIONS if each.name in ("undo", "redo")]
    head, rule, *others = rows(each._replace(menu="") for each in undoing).splitlines()
    table = [head, rule, slides, *others, *rows(ACTIONS).splitlines()[2:]]
    reviews, practice = (
        rows(each._replace(menu="") for each in actions)
        for actions in (REVIEW_ACTIONS, PRACTICE_ACTIONS[-2:])
    )
    return "\n".join([*table, "\nIn a review:\n", reviews, "\nIn practice:\n", practice, ""])


def bounds_page() -> str:
    """Return the table of the server's bounds."""
    from py2048.server import bounds

    source = Path(bounds.__file__).read_text(encoding="utf-8")
    notes = re.findall(r"^# (.+) \| (.+) \| (.+)$", source, re.MULTILINE)
    rows = [
        f"| {what} | {most:,d} | `{owner}` | {full} |"
        for (what, owner, full), most in zip(notes, bounds.BOUNDS.values(), strict=True)
    ]
    return "\n".join(["| what | most | kept by | then |", "|---|--:|---|---|", *rows, ""])


def write(path: Path, text: str) -> None:
    """Write a page, leaving an unchanged one alone so that Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_pages(app: Sphinx) -> None:
    """Write all generated pages and remove those of modules that are gone."""
    folder = Path(app.srcdir) / "reference" / "generated"
    (folder / "layers").mkdir(parents=True, exist_ok=True)
    pages = {"py2048.md": facade_page()}
    documented = documented_layers()
    pages |= {f"layers/{layer}.md": layer_page(layer) for layer in documented}
    pages["layers.md"] = contents_page(documented)
    pages["modules.md"] = modules_page()
    pages["web-messages.md"] = messages_page()

    pages["bounds.md"] = bounds_page()
    pages["keys.md"] = keys_page()
    for old in folder.rglob("*.md"):
        if old.relative_to(folder).as_posix() not in pages:
            old.unlink()
    for name, text in pages.items():
        write(folder / name, text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
