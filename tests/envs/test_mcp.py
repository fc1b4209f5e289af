"""The official MCP client plays through our command."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from py2048 import Game, Record
from py2048.core import rng

pytest.importorskip("mcp.client.client", reason="pip install py2048[mcp]")  # new in mcp 2
mcp = pytest.importorskip("mcp")
ROOT = Path(__file__).resolve().parents[2]
TOOLS = ["board", "legal_moves", "move", "new_game", "record"]


def server(*words: str) -> Any:
    """Return a transport to a server that the client starts."""
    command = [*("-m", "py2048", "mcp", "--rules", "3x3", "--seed", "7"), *words]
    return mcp.client.stdio.stdio_client(
        mcp.StdioServerParameters(command=sys.executable, args=command)
    )


async def test_an_agent_plays_a_game_that_is_verified() -> None:
    """It moves by what it writes, sees the board in each form, and asks for hints if it may."""
    async with mcp.Client(server("--hints", "greedy")) as client:

        async def ask(tool: str, **arguments: str) -> Any:
            (content,) = (await client.call_tool(tool, arguments)).content
            return content

        listed = await client.list_tools()
        assert sorted(tool.name for tool in listed.tools) == sorted([*TOOLS, "hint"])
        assert not any(tool.output_schema for tool in listed.tools)
        legal = (await ask("legal_moves")).text.split(", ")
        assert (await ask("hint")).text in legal
        assert "move 1\n" in (await ask("move", direction=f"I go <move>{legal[0]}</move>")).text
        assert "Tries left: 9" in (await ask("move", direction="dunno")).text
        assert json.loads((await ask("board", form="json")).text)["moves"] == 1
        picture = await ask("board", form="image")
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        record = Record.from_json((await ask("record")).text)
        record.verify()
        assert (record.seed, record.plies, record.hints) == (None, 1, 1)
        assert record.start == Game(record.rules, seed=rng.derive_seed(7, 0)).start
        assert "move 0\n" in (await ask("new_game")).text


async def test_without_a_player_there_are_no_hints() -> None:
    """They are given only where the command allows them."""
    async with mcp.Client(server()) as client:
        assert sorted(tool.name for tool in (await client.list_tools()).tools) == TOOLS


def test_the_page_s_script_works_as_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documentation's script runs as written."""
    page = (ROOT / "docs/how-to/let-agents-play.md").read_text(encoding="utf-8")
    (script,) = [
        block for block in re.findall("```py\n(.*?)```", page, re.DOTALL) if "mcp" in block
    ]
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=60)
    assert "move 1\n" in capfd.readouterr().out
