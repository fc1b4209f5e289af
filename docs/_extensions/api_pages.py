"""Write the reference pages of the Python API from the sources themselves.

A module that is added to the package gets its section without a line here. The pages go to
``reference/generated`` before each build.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WITHOUT_PAGES = {"__main__", "cli", "ui", "server", "courses", "bench", "_jit"}
"""Layers that programs do not build on: screens, courses and commands have pages of their own."""

DIRECTIVE = ".. automodule:: {}\n   :members:\n   :show-inheritance:\n   :ignore-module-all:"
"""Each object has its place where it is defined, and none where it is only offered again."""


def documented_layers() -> list[str]:
    """Return the layers that have a page, from the bottom, as the import contract orders them."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    settings = tomllib.loads(project.read_text(encoding="utf-8"))
    rows = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name.strip(" ()") for row in reversed(rows) for name in row.split("|")]
    present = [name for name in names if importlib.util.find_spec(f"py2048.{name}")]
    return [name for name in present if name not in WITHOUT_PAGES]


def public_modules(name: str) -> Iterator[str]:
    """Yield the module `name` and the public modules below it."""
    yield name
    module = importlib.import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", [])):
        if not found.name.startswith("_") and found.name != "migrations":
            yield from public_modules(f"{name}.{found.name}")


def layer_page(layer: str) -> str:
    """Return the page of one layer: its own docstring, then each of its modules."""
    parts = []
    for name in public_modules(f"py2048.{layer}"):
        title = f"# `{name}`" if not parts else f"## `{name}`"
        parts.append(f"{title}\n\n```{{eval-rst}}\n{DIRECTIVE.format(name)}\n```\n")
    return "\n".join(parts)


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


def write(path: Path, text: str) -> None:
    """Write a page, leaving an unchanged one alone so that Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_pages(app: Sphinx) -> None:
    """Write all generated pages and remove those of modules that are gone."""
    folder = Path(app.srcdir) / "reference" / "generated"
    (folder / "layers").mkdir(parents=True, exist_ok=True)
    pages = {"py2048.md": facade_page()}
    layers = documented_layers()
    pages |= {f"layers/{layer}.md": layer_page(layer) for layer in layers}
    pages["layers.md"] = contents_page(layers)
    for old in folder.rglob("*.md"):
        if old.relative_to(folder).as_posix() not in pages:
            old.unlink()
    for name, text in pages.items():
        write(folder / name, text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
