"""The keeper: saves a game after each change, so that a crash loses nothing.

It knows how much of the game is on the disk and writes the rest. When a write fails, what is
missing is written with the next change. When another process has moved on with the same game,
this one is saved as a game of its own: neither overwrites the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from py2048.engine import Board
from py2048.errors import Py2048Error, StaleGameError, StorageError
from py2048.game import Game
from py2048.game.notation import decode_steps
from py2048.game.spawning import Draws
from py2048.rules import Rules
from py2048.session.play import Facts, Play

if TYPE_CHECKING:
    from py2048.storage import SavedGame, Store

FORKED = "this game went on in another window; here it is kept as a game of its own"


@dataclass
class _Saved:
    """What the store holds: its name for the game, the revision, the position and the facts."""

    id: str
    revision: int
    position: int = 0
    facts: Facts = (0, 0, False)


class Keeper:
    """Keeps one `Play` at a time in a store."""

    def __init__(self, store: Store, owner: str) -> None:
        self._store = store
        self._owner = owner
        self._saved: _Saved | None = None

    def begin(self, play: Play) -> None:
        """Keep a new game from now on.

        Raises:
            StorageError: if the store cannot be written.
        """
        self._saved = None
        self.save(play)

    def load(self, saved: SavedGame, draws: Draws | None = None) -> Play:
        """Return a saved game as it was left, and keep it from now on.

        Args:
            saved: the game.
            draws: where its tiles come from, if not from its seed.

        Raises:
            StorageError: if the saved game cannot be read back.
        """
        play = restore(saved, draws)
        self._saved = _Saved(saved.id, saved.revision, saved.position, play.facts)
        return play

    def save(self, play: Play) -> str | None:
        """Bring the store up to date; return a line for the player if the game was forked.

        Raises:
            StorageError: if the store cannot be written; what is missing is saved next time.
        """
        try:
            self._write(play)
        except StaleGameError:
            self._saved = None
            self._write(play)
            return FORKED
        return None

    def leave(self, play: Play) -> None:
        """Let go of a game: a finished one becomes a record, one without a turn is discarded.

        A game in between stays in the store, to be resumed.

        Raises:
            StorageError: if the store cannot be written.
        """
        saved, self._saved = self._saved, None
        if saved is None:
            return
        if not play.codes:
            self._store.discard_game(saved.id, saved.revision)
        elif play.game.is_over:
            finish(self._store, saved.id, saved.revision, play)

    def _write(self, play: Play) -> None:
        if self._saved is None:
            self._saved = self._create(play.game)
            play.clean = 0
        for index in range(play.clean, len(play.codes)):
            self._append(self._saved, play, index)
            play.clean = index + 1
        if (self._saved.position, self._saved.facts) != (play.position, play.facts):
            self._settle(self._saved, play)

    def _create(self, game: Game) -> _Saved:
        created = self._store.create_game(
            rules=str(game.rules),
            seed=game.seed,
            start=str(game.start),
            player=game.player,
            owner=self._owner,
        )
        return _Saved(created.id, created.revision)

    def _append(self, saved: _Saved, play: Play, index: int) -> None:
        is_now = index == play.position - 1
        saved.revision = self._store.append_turn(
            saved.id,
            saved.revision,
            index,
            play.codes[index],
            score=play.game.score if is_now else 0,
            is_over=is_now and play.game.is_over,
            millis=play.millis[index],
        )
        saved.position = index + 1

    def _settle(self, saved: _Saved, play: Play) -> None:
        undos, hints, computer = play.facts
        saved.revision = self._store.set_position(
            saved.id,
            saved.revision,
            play.position,
            score=play.game.score,
            is_over=play.game.is_over,
            undos=undos,
            hints=hints,
            extra={"computer": computer},
        )
        saved.position, saved.facts = play.position, play.facts


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
        game = Game(rules, seed=saved.seed, board=start, player=saved.player, draws=draws)
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
    store.finish_game(
        game_id,
        revision,
        play.record().to_json(),
        score=game.score,
        max_tile=game.board.max_tile,
        plies=game.ply,
        outcome=game.outcome.value,
        category=play.category,
    )


def finish_left_behind(store: Store, owner: str) -> None:
    """Finish the games that were over when their process ended.

    Raises:
        StorageError: if the store cannot be read or written.
    """
    for saved in store.list_games(owner, finished=True):
        finish(store, saved.id, saved.revision, restore(saved))
