"""Write the sections of the commands, with their options, from the commands themselves.

They go to ``reference/generated/command.txt``, which the page of the command includes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer.main

from py2048.cli.app import app as commands

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def walk(group: Any, words: str = "py2048") -> Iterator[tuple[str, Any]]:
    """Yield the words of each command, and the command."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from walk(command, f"{words} {name}")
        elif not command.hidden:
            yield f"{words} {name}", command


def section(words: str, command: Any) -> str:
    """Return the section of a command: how it is called, what it does, its options."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    call = " ".join([words, *map(_name_of, arguments)])
    rows = [f"| `{call}` | |", "|---|---|"]
    rows += [_row(f"`{_name_of(each)}`", each.help) for each in arguments]
    for each in options:
        if not each.hidden:
            spelled = ", ".join(f"`{name}`" for name in (*each.opts, *each.secondary_opts))
            rows.append(_row(spelled, each.help))
    text = " ".join((command.help or "").split())
    return f"## `{words}`\n\n{text}\n\n" + "\n".join(rows) + "\n"


def _name_of(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _row(names: str, help_: str | None) -> str:
    text = re.sub(r"([|<>*_\[\]])", r"\\\1", " ".join((help_ or "").split()))
    return f"| {names} | {text} |"


def write_commands(app: Sphinx) -> None:
    """Write the sections of all commands."""
    folder = Path(app.srcdir) / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    found = walk(typer.main.get_command(commands))
    text = "\n".join(section(words, command) for words, command in found)
    path = folder / "command.txt"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write_commands)
    return {"parallel_read_safe": True}
