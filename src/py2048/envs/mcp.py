"""An MCP server with which agents can play 2048; requires the extra ``mcp``.

The command ``py2048 mcp`` runs the server on standard input and output.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from py2048.core import rng
from py2048.core.errors import extra_for
from py2048.core.rules import Rules
from py2048.envs.text import TextGame, observed, picture
from py2048.players import make_player

if TYPE_CHECKING:
    from mcp.server import MCPServer

RETRIES = 9
"""Maximum number of consecutive answers without a legal move. One more ends the game."""


def make_server(rules: Rules, *, seed: int | None = None, hints: str | None = None) -> MCPServer:
    """Create a server for one agent, and start its first game.

    Args:
        rules: Rules of the games.
        seed: Seed of the series of games. With the same seed, ``py2048 evaluate`` plays the same
            games.
        hints: Spec of the player behind the ``hint`` tool. Without a spec, there is no ``hint``
            tool.

    Raises:
        MissingExtraError: If the MCP SDK is not installed.
        PlayerError: If the player does not exist.
    """
    with extra_for("the MCP server", "mcp"):
        from mcp.server import MCPServer
        from mcp.server.mcpserver import Image

    adviser = make_player(hints) if hints else None
    first = rng.random_seed() if seed is None else rng.checked_seed(seed)

    def begin(number: int) -> TextGame:
        seed = rng.derive_seed(first, number)
        return TextGame(rules, seed=seed, retries=RETRIES, player="MCP")

    games, hints_of = [begin(0)], Counter[int]()
    server = MCPServer("py2048", instructions=games[0].instructions)

    @server.tool(structured_output=False)
    def new_game() -> str:
        """Give up the game and start the next game; return its rules and its board."""
        games.append(begin(len(games)))
        return f"{games[-1].instructions}\n\n{games[-1].observation}"

    @server.tool(structured_output=False)
    def move(direction: str) -> str:
        """Slide all tiles up, down, left or right; return the resulting board."""
        return games[-1].step(direction).text

    @server.tool(structured_output=False)
    def board(form: Literal["text", "json", "image"] = "text") -> Any:
        """Return the board and the score, as text, as JSON or as a picture."""
        game = games[-1].game
        return Image(data=picture(game), format="png") if form == "image" else observed(game, form)

    @server.tool(structured_output=False)
    def legal_moves() -> str:
        """Return the moves that change the board."""
        return ", ".join(games[-1].legal_moves) or "none: the game is over"

    @server.tool(structured_output=False)
    def record() -> str:
        """Return the game as a record, which `py2048 verify` checks."""
        # The seed of a finished game would reveal the seeds of the next games.
        return replace(games[-1].record(), seed=None, hints=hints_of[len(games)]).to_json()

    if adviser is not None:

        @server.tool(structured_output=False)
        def hint() -> str:
            """Return the move that a strong player would make."""
            if not games[-1].legal_moves:
                return "none"
            hints_of[len(games)] += 1
            return str(adviser.choose(games[-1].game))

    return server
