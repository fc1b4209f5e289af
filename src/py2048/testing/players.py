"""`check_player`: conformance check for the `Player` protocol."""

from __future__ import annotations

import math
from collections.abc import Iterable

from py2048.core.board import Board
from py2048.core.errors import GameOverError
from py2048.core.game import Game
from py2048.core.rng import derive_seed
from py2048.core.rules import Rules, list_rules
from py2048.players import Player


def check_player(
    player: Player, rules: Iterable[Rules] | None = None, *, positions: int = 20, seed: int = 1
) -> None:
    """Check that a player conforms to the `Player` protocol on positions from real games.

    A player must have a name, choose a legal direction, and leave the game unchanged. The player
    must rate every legal direction with a finite number, and must not rate illegal directions. In a
    finished game, the player must not rate any direction, and must raise `GameOverError` when asked
    to choose.

    Args:
        player: The player to check.
        rules: The rules to use. Defaults to all presets.
        positions: Number of positions per rule set.
        seed: Seed of the positions.

    Raises:
        AssertionError: If the player violates the protocol; the message names the rule and the
            position.
    """
    assert isinstance(player, Player), f"{player!r} lacks name, choose or rate"
    assert player.name, "a player's name must not be empty"
    for each in list_rules() if rules is None else rules:
        for index in range(positions):
            _check_position(player, _position(each, derive_seed(seed, index), index))
        _check_finished(player, each)


def _position(rules: Rules, seed: int, length: int) -> Game:
    """Return a game after up to `length` pseudo-random legal moves."""
    game = Game(rules, seed=seed)
    for ply in range(length):
        legal = game.legal_directions()
        if legal:
            game.play(legal[(seed >> ply % 60) % len(legal)])
    return game


def _check_position(player: Player, game: Game) -> None:
    legal = game.legal_directions()
    if not legal:
        return
    before = game.board, game.score, game.ply, game.turns
    where = f"under {game.rules.name} on {' / '.join(str(game.board).splitlines())}"
    direction = player.choose(game)
    assert direction in legal, f"{player.name} chose {direction}, which is illegal, {where}"
    ratings = player.rate(game)
    assert set(ratings) == set(legal), f"{player.name} rated {ratings}, not {legal}, {where}"
    assert all(map(math.isfinite, ratings.values())), f"{player.name} rated {ratings} {where}"
    after = game.board, game.score, game.ply, game.turns
    assert after == before, f"{player.name} changed the game {where}"


def _check_finished(player: Player, rules: Rules) -> None:
    stuck = [[2 << (r + c) % 2 for c in range(rules.columns)] for r in range(rules.rows)]
    game = Game(rules, seed=0, board=Board.from_rows(stuck))
    assert not player.rate(game), f"{player.name} rated directions of a finished game"
    try:
        direction = player.choose(game)
    except GameOverError:
        return
    raise AssertionError(f"{player.name} chose {direction} in a finished game")
