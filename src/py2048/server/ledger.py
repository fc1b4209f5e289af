"""The ledger of one game: collects what a session saves, to be written with other games' turns.

A `Session` saves each change before it announces it. On a server that would be a transaction
for each move; so there a session saves into a `Ledger`, and the server answers the player when
a `Writer` has brought what was collected to the disk, together with the moves of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from py2048.game.turn import Draws
from py2048.session.autosave import Autosave
from py2048.session.tracked_game import HUMAN_CATEGORIES, Facts, TrackedGame
from py2048.storage import GameChange, SavedGame

if TYPE_CHECKING:
    from py2048.storage import Store


class Ledger:
    """What was done in one game that is in the store already.

    Attributes:
        revision: the revision that the session has reached, on the disk or not.
        codes: the codes of the turns, undone ones at the end included.
    """

    def __init__(self, store: Store, saved: SavedGame) -> None:
        self._store = store
        self._id = saved.id
        self._owner = saved.owner
        self.codes = list(saved.turns)
        self._position, self._score, self._is_over = saved.position, saved.score, saved.is_over
        self._undos, self._hints, self._extra = saved.undos, saved.hints, saved.extra
        self._turns: list[tuple[int, str, int]] = []
        self.revision = self._taken = saved.revision
        self._bests: dict[str, int] | None = None  # by board, under the game's rules

    @property
    def is_dirty(self) -> bool:
        """Whether something waits to be written."""
        return self.revision != self._taken

    @property
    def played(self) -> list[str]:
        """The codes of the turns that are played."""
        return self.codes[: self._position]

    @property
    def facts(self) -> tuple[int, int, bool]:
        """How many undos and hints there were, and whether a computer made a move."""
        return self._undos, self._hints, bool(self._extra.get("computer"))

    def take(self, **facts: Any) -> GameChange:
        """Return what was saved since the last time, to be written, with further facts."""
        change = GameChange(
            self._id, self._taken, self.revision, len(self.codes), self._position, self._score,
            self._is_over, self._undos, self._hints, {**self._extra, **facts}, tuple(self._turns),
        )  # fmt: skip
        self._turns, self._taken = [], self.revision
        return change

    def append_turn(
        self,
        _game_id: str,
        revision: int,
        position: int,
        code: str,
        *,
        score: int,
        is_over: bool = False,
        millis: int | None = None,
    ) -> int:
        """Collect a turn; see `Store.append_turn`."""
        self._turns.append((position, code, millis or 0))
        self.codes[position:] = [code]
        self._position = position + 1
        self._score, self._is_over = score, is_over
        self.revision = revision + 1
        return self.revision

    def set_position(
        self,
        _game_id: str,
        revision: int,
        position: int,
        *,
        score: int,
        is_over: bool = False,
        undos: int,
        hints: int,
        extra: Mapping[str, Any] | None = None,
    ) -> int:
        """Collect an undo, a redo or the facts beside the turns; see `Store.set_position`."""
        self._position, self._score, self._is_over = position, score, is_over
        self._undos, self._hints = undos, hints
        self._extra = self._extra if extra is None else extra
        self.revision = revision + 1
        return self.revision

    def best_score(self, rules: str, _owner: str, category: str | None = None) -> int:
        """Return the player's best score of finished games; plain ones are ranked or daily."""
        if self._bests is None:
            self._bests = self._store.best_scores(rules, self._owner)
        boards = ("ranked", "daily", "bot") if category == "plain" else (category,)
        return max(self._bests.get(board or "", 0) for board in boards)


class LedgerKeeper(Autosave):
    """Collects the changes of one game on a server in its ledger.

    Args:
        ledger: where to.
        owner: whose game it is.
    """

    def __init__(self, ledger: Ledger, owner: str) -> None:
        super().__init__()
        self._ledger, self._owner = ledger, owner
        self._id, self._revision, self._position = "", 0, 0
        self._facts: Facts = (0, 0, False)

    def load(self, saved: SavedGame, draws: Draws | None = None) -> TrackedGame:
        """Return the game as it was left.

        Args:
            saved: the game.
            draws: where its tiles come from, if not from its seed.

        Raises:
            StorageError: if the saved game cannot be read back.
        """
        play = TrackedGame.from_saved(saved, draws)
        self._id, self._revision = saved.id, saved.revision
        self._position, self._facts = saved.position, play.facts
        return play

    def save(self, play: TrackedGame) -> None:
        """Collect what has changed, each turn by itself."""
        for index in range(play.saved_count, len(play.codes)):
            self._append(play, index)
        play.saved_count = len(play.codes)
        if (self._position, self._facts) != (play.position, play.facts):
            self._settle(play)

    def best_score(self, rules: str) -> int:
        """Return the best score of a person under these rules."""
        return max(self._ledger.best_score(rules, self._owner, kind) for kind in HUMAN_CATEGORIES)

    def _append(self, play: TrackedGame, index: int) -> None:
        is_now = index == play.position - 1
        self._revision = self._ledger.append_turn(
            self._id,
            self._revision,
            index,
            play.codes[index],
            score=play.game.score if is_now else 0,
            is_over=is_now and play.game.is_over,
            millis=play.think_ms[index],
        )
        self._position = index + 1

    def _settle(self, play: TrackedGame) -> None:
        undos, hints, computer = play.facts
        self._revision = self._ledger.set_position(
            self._id,
            self._revision,
            play.position,
            score=play.game.score,
            is_over=play.game.is_over,
            undos=undos,
            hints=hints,
            extra={"computer": computer},
        )
        self._position, self._facts = play.position, play.facts
