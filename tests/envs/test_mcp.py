"""Agents play by the Model Context Protocol: the official client, our command."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import pytest

from py2048 import Record, rng

pytest.importorskip("mcp.client.client", reason="pip install py2048[mcp]")  # new in mcp 2
mcp = pytest.importorskip("mcp")
TOOLS = ["board", "legal_moves", "move", "new_game", "record"]


def server(*words: str) -> Any:
    """Return the transport to a server that the client starts."""
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
        legal = (await ask("legal_moves")).text.split(", ")
        assert (await ask("hint")).text in legal
        assert "move 1\n" in (await ask("move", direction=f"I go <move>{legal[0]}</move>")).text
        assert "Tries left: 9" in (await ask("move", direction="dunno")).text
        assert json.loads((await ask("board", form="json")).text)["moves"] == 1
        picture = await ask("board", form="image")
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        record = Record.from_json((await ask("record")).text)
        record.verify()
        assert (record.seed, record.plies) == (rng.derive_seed(7, 0), 1)
        assert "move 0\n" in (await ask("new_game")).text


async def test_without_a_player_there_are_no_hints() -> None:
    """They are given only where the command allows them."""
    async with mcp.Client(server()) as client:
        assert sorted(tool.name for tool in (await client.list_tools()).tools) == TOOLS
