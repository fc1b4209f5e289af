"""From the directions of a game to the game: how a compiled batch's games become records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py2048.game.game import Game
from py2048.game.record import Record

if TYPE_CHECKING:
    from py2048.compiled.batch import History  # loads NumPy, which no single game needs


def replay(history: History) -> Game:
    """Return the game that these rules, this seed and these directions give.

    A direction that is not legal is an attempt: it costs what the rules say, often nothing.
    """
    game = Game(history.rules, seed=history.seed, board=history.start)
    for direction in history.directions:
        game.attempt(direction)
    return game


def record_history(history: History) -> Record:
    """Return the record of the game that a batch remembers."""
    return replay(history).record()
