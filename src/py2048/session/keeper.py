"""Keepers: what a session hands its changes to. `Autosave` is the one that players have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py2048.board import Board
from py2048.errors import Py2048Error, StorageError
from py2048.game import Game, Record
from py2048.game.notation import decode_steps
from py2048.game.spawning import Draws
from py2048.rules import Rules
from py2048.session.play import Play

if TYPE_CHECKING:
    from py2048.storage import RecordSummary, SavedGame, ScoreSummary, Store

PERSON = ("plain", "assisted")
"""The categories of games that a person played alone; only these count for the best score."""

NOT_KEPT = "this session keeps no games: it was opened without a store"


class Keeper:
    """Keeps nothing but settings, and these in memory.

    Attributes:
        keeps_games: whether a game that is left can be taken up again.
    """

    keeps_games = False

    def __init__(self) -> None:
        self._settings: dict[str, Any] = {}

    @property
    def unsaved(self) -> str:
        """Why something is not saved yet, in one line; empty if all is saved."""
        return ""

    def take_notices(self) -> list[str]:
        """Return what the player should know of what was saved, once."""
        return []

    def close(self) -> None:
        """Save what is to be saved, and end."""

    def begin(self, play: Play) -> None:
        """Keep a new game from now on."""

    def load(self, saved: SavedGame, draws: Draws | None = None) -> Play:  # noqa: ARG002 - others need them
        """Return a saved game as it was left, and keep it from now on."""
        raise StorageError(NOT_KEPT)

    def save(self, play: Play) -> None:
        """Keep what has changed in the game."""

    def leave(self, play: Play) -> None:
        """Let go of the game."""

    def best_score(self, rules: str) -> int:  # noqa: ARG002 - others need it
        """Return the best score of a person under these rules."""
        return 0

    def note_score(self, rules: str, category: str, score: int) -> None:
        """Raise the best score."""

    def get_setting(self, key: str) -> Any:
        """Return what `set_setting` remembered, `None` if nothing."""
        return self._settings.get(key)

    def set_setting(self, key: str, value: Any) -> None:
        """Remember a JSON value."""
        self._settings[key] = value

    def current_game(self, rules: str | None) -> SavedGame | None:  # noqa: ARG002 - others need it
        """Return the last unfinished game, under `rules` if they are given."""
        return None

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress, the last played first."""
        return []

    def scores(self, rules: str | None) -> list[ScoreSummary]:  # noqa: ARG002 - others need it
        """Return the best scores and averages by rules and category."""
        return []

    def finished(self, rules: str | None, limit: int) -> list[RecordSummary]:  # noqa: ARG002 - others need it
        """Return finished games, the best first."""
        return []

    def finished_record(self, record_id: str) -> Record:  # noqa: ARG002 - others need it
        """Return one of the `finished` games."""
        raise StorageError(NOT_KEPT)


def restore(saved: SavedGame, draws: Draws | None = None) -> Play:
    """Return the game that the store holds, with its undone turns ready to be redone.

    Args:
        saved: the game.
        draws: where its tiles come from, if not from its seed.

    Raises:
        StorageError: if the saved turns break the saved rules.
    """
    try:
        rules = Rules.parse(saved.rules)
        start = Board.parse(saved.start)
        player = saved.extra.get("player", saved.player)
        game = Game(rules, seed=saved.seed, board=start, player=player, draws=draws)
        for direction, spawn in decode_steps("".join(saved.turns), rules.shape):
            if spawn is None:
                game.attempt(direction)
            else:
                game.play(direction, spawn=spawn)
    except Py2048Error as error:
        raise StorageError(f"the saved game {saved.id} cannot be read back: {error}") from error
    for _ in saved.turns[saved.position :]:
        game.undo()
    return Play(
        game,
        codes=list(saved.turns),
        millis=[millis or 0 for millis in saved.millis],
        undos=saved.undos,
        hints=saved.hints,
        computer=bool(saved.extra.get("computer")),
        clean=len(saved.turns),
    )


def finish(store: Store, game_id: str, revision: int, play: Play) -> None:
    """Turn the saved game, which is over, into a finished record.

    Raises:
        StorageError: if the store cannot be written.
    """
    game = play.game
    store.records.finish(
        game_id,
        revision,
        play.record().to_json(),
        score=game.score,
        max_tile=game.board.max_tile,
        plies=game.ply,
        outcome=game.outcome.value,
        category=play.category,
    )
