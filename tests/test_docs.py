"""All examples in the documentation run, and the documentation is complete."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main
from sybil import Document, Example, Sybil
from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser, SkipParser

from py2048 import list_players, list_rules
from py2048.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_console(example: Example) -> None:
    """Run each ``$ command`` of a console block and compare the output.

    Lines that start with ``> `` continue the command above. A command must exit with 0, unless the
    last line of its output is ``[exit status 2]`` or similar.
    """
    blocks = re.split(r"^\$ ", str(example.parsed), flags=re.MULTILINE)
    assert not blocks[0].strip(), f"output before the first command: {blocks[0]!r}"
    for block in blocks[1:]:
        lines = block.splitlines()
        more = next((n for n, line in enumerate(lines[1:]) if not line.startswith("> ")), None)
        split = len(lines) if more is None else more + 1
        command = "\n".join([lines[0], *(line[2:] for line in lines[1:split])])
        expected = "\n".join(line for line in lines[split:] if line.strip()) + "\n"
        printed = "\n".join(line for line in output_of(command).splitlines() if line.strip()) + "\n"
        checker = doctest.OutputChecker()
        if not checker.check_output(expected, printed, FLAGS):
            raise AssertionError(f"{command}\nshould print:\n{expected}\nprinted:\n{printed}")


def output_of(command: str) -> str:
    """Run a shell command and return its output and errors as a user sees them."""
    programs = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-c", command],
        check=False,
        env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    # Compilation depends on what ran before, and long commands print progress.
    news = re.compile(
        r"^py2048: (compiling|Quick hint|finding boards|finding values|following).*\n", re.MULTILINE
    )
    status = f"[exit status {done.returncode}]\n" if done.returncode else ""
    return news.sub("", done.stdout) + status


SYBIL = Sybil(
    parsers=[
        PythonCodeBlockParser(future_imports=["annotations"], doctest_optionflags=FLAGS),
        CodeBlockParser("console", run_console),
        SkipParser(),
    ]
)


def pages() -> list[Path]:
    """Return all documentation pages, including those in the repository root."""
    written = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    return sorted([*ROOT.glob("*.md"), *(p for p in written if "generated" not in p.parts)])


def pages_with_examples() -> list[Path]:
    """Return the pages with Python or console examples."""
    block = re.compile(r"^ *```+(python|console)$", re.MULTILINE)
    return [path for path in pages() if block.search(path.read_text(encoding="utf-8"))]


def modules_with_examples() -> list[str]:
    """Return the names of modules with doctests."""
    found = [
        path
        for path in sorted((SOURCES / "py2048").rglob("*.py"))
        if re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    names = [".".join(path.relative_to(SOURCES).with_suffix("").parts) for path in found]
    return [name.removesuffix(".__init__") for name in names]


def name_of(path: Path) -> str:
    """Return a page's path as a test id."""
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages_with_examples(), ids=name_of)
def test_examples_of_page(page, tmp_path, monkeypatch):
    """Every example of a page gives the documented output, in order."""
    monkeypatch.chdir(tmp_path)
    document: Document = SYBIL.parse(page)
    for example in document.examples():
        example.evaluate()


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_of_docstrings(name):
    """Every doctest gives the documented output."""
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert tried
    assert not failed


def test_a_wrong_example_is_noticed(tmp_path):
    """The checker itself fails for wrong Python, wrong output and wrong exit statuses."""
    for wrong in (
        "```python\nassert 1 == 2\n```",
        "```python\n>>> 1 + 1\n3\n```",
        "```console\n$ echo 2\n3\n```",
        f"```console\n$ {shlex.quote(sys.executable)} -c 'raise SystemExit(2)'\n```",
    ):
        page = tmp_path / "wrong.md"
        page.write_text(wrong, encoding="utf-8")
        (example,) = SYBIL.parse(page).examples()
        with pytest.raises(AssertionError):  # Sybil also raises assertion errors
            example.evaluate()


def test_each_preset_is_documented():
    """The presets page has each preset with its full text."""
    page = (ROOT / "docs/reference/presets.md").read_text(encoding="utf-8")
    for rules in list_rules():
        assert f"`{rules.name}`" in page, f"docs/reference/presets.md lacks {rules.name}"
        assert str(rules) in page, f"docs/reference/presets.md does not say {rules}"


def test_each_player_is_documented():
    """The players page has a section for each registered player."""
    page = (ROOT / "docs/reference/players.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^#+ `([^`]+)`$", page, re.MULTILINE))
    assert headings == set(list_players())


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_commands_of_page_exist(page):
    """Every ``py2048`` line outside the tested examples uses existing commands and options."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^ *```(?:sh|text)$(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    line = re.compile(r"(?:^ *|[|&$] *|/bin/)py2048( [^\n|&>]*)?$", re.MULTILINE)
    quoted = re.findall(r"`py2048( [^`]*)?`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    for words in [*line.findall("\n".join(blocks)), *quoted]:
        parse(shlex.split(words, comments=True))


def parse(words: list[str]) -> None:
    """Parse a command line without running it; unknown words are errors."""
    command: Any = typer.main.get_command(app)
    own = {name for option in command.get_params(typer.Context(command)) for name in option.opts}
    if words[:1] == ["help"]:
        words = [] if words[1:] == ["COMMAND"] else words[1:]
    if not words or (words[0].startswith("-") and words[0] not in own):
        words = ["play", *words]
    while hasattr(command, "commands") and words[0] not in own:
        command, words = command.commands[words[0]], words[1:]
    command.make_parser(typer.Context(command)).parse_args(words)


def test_links_between_pages_lead_somewhere():
    """Relative links and images on pages refer to existing files."""
    broken = []
    for page in pages():
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        targets = [t for t in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in t]
        missing = [t for t in targets if not (page.parent / t).exists()]
        broken.extend(f"{name_of(page)}: {target}" for target in missing)
    assert not broken
