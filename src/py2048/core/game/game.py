"""`Game`: rules, a start position and the turns played, with undo and redo."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace

from py2048.core import rng
from py2048.core.board import Board, Slide
from py2048.core.direction import Direction
from py2048.core.errors import (
    BoardError,
    GameOverError,
    IllegalMoveError,
    PlayerError,
    RecordError,
    check_kind,
)
from py2048.core.game.record import Record, plain_name, utc
from py2048.core.game.turn import (
    Draws,
    Outcome,
    Position,
    Spawn,
    Turn,
    draw_spawn,
    draws_from,
    encode_turn,
    position_after,
    spawn_error,
    start_from,
    start_position,
)
from py2048.core.rules import MovePoints, Rules, get_rules


@dataclass(frozen=True, slots=True)
class History:
    """The moves of one game in a batch, with everything needed to replay the game.

    Attributes:
        rules: Rules of the game.
        seed: The seed of the generator.
        directions: All attempted directions, legal or not.
        start: The start position, or None if it is drawn from the seed.
    """

    rules: Rules
    seed: int
    directions: tuple[Direction, ...]
    start: Board | None = None


class Game:
    """A game in progress or finished.

    The same rules, seed and moves give the same game on every machine. Spawns come from the
    generator documented in `py2048.core.rng`, keyed by the seed and the ply.

    >>> from py2048 import Direction, Game, get_rules
    >>> game = Game(get_rules("classic"), seed=7)
    >>> turn = game.play(game.legal_directions()[0])
    >>> game.undo() == turn and game.redo() == turn
    True

    The constructor, `play` and `attempt` also accept rules, boards and directions as text:

    >>> Game("3x3", board="2 2 . / . . . / . . .").play("left").slide.points
    4

    Args:
        rules: Rules of the game. Defaults to the classic rules.
        seed: A whole number from 0 to 2**64 - 1. Defaults to a random seed.
        board: The start position. By default, the rules draw one.
        player: The player's name. Records store the player's name without control characters.
        draws: Function that draws random numbers in place of the seeded generator, so that tiles
            are unpredictable. Records of games with `draws` have no seed.

    Raises:
        RulesError: If `rules` are not valid rules.
        SeedError: If `seed` is not a valid seed.
        BoardError: If `board` is not a board, or has the wrong size for the rules.
        PlayerError: If `player` is not a string.

    Attributes:
        position: The current position, with its score, legal directions and outcome. Read-only.
        player: The player's name, as given.
        started: When the game began, in seconds since the epoch.
        finished: When the last turn was played, or None if there are no turns.
    """

    def __init__(
        self,
        rules: Rules | str | None = None,
        *,
        seed: int | None = None,
        board: Board | str | None = None,
        player: str = "",
        draws: Draws | None = None,
    ) -> None:
        self._rules = get_rules(rules)
        self._seed = rng.random_seed() if seed is None else rng.checked_seed(seed)
        self._draws = draws or draws_from(rng.key_of(self._seed))
        self._is_seeded = draws is None
        if isinstance(board, str):
            board = Board.parse(board)
        check_kind(board, Board | None, BoardError, "a board: give a Board or its text")
        check_kind(player, str, PlayerError, "a player name: give a string")
        if board is not None and board.shape != self._rules.shape:
            raise BoardError(
                f"the rules {self._rules.name} play on {self._rules.rows}x{self._rules.columns}, "
                f"not on a board of {board.shape[0]}x{board.shape[1]}"
            )
        self.player = player
        self.started = time.time()
        self.finished: float | None = None
        start = board if board is not None else start_from(self._rules, self._draws)
        self._past: list[Position] = []
        self.position = start_position(self._rules, start)
        self._undone: list[Position] = []

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._rules

    @property
    def seed(self) -> int:
        """The seed of the generator."""
        return self._seed

    @property
    def start(self) -> Board:
        """The board before the first turn."""
        return (self._past[0] if self._past else self.position).board

    @property
    def board(self) -> Board:
        """The current board."""
        return self.position.board

    @property
    def score(self) -> int:
        """The current score."""
        return self.position.score

    @property
    def ply(self) -> int:
        """Number of legal turns played."""
        return self.position.ply

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns played, including illegal attempts that cost points."""
        return tuple(each.turn for each in self.positions() if each.turn)

    @property
    def turn_count(self) -> int:
        """Number of turns played."""
        return self.position.turn_count

    @property
    def last_turn(self) -> Turn | None:
        """The most recent turn, or `None` at the start."""
        return self.position.turn

    @property
    def undone(self) -> tuple[Turn, ...]:
        """The undone turns, starting with the turn that `redo` replays next."""
        return tuple(each.turn for each in reversed(self._undone) if each.turn)

    @property
    def outcome(self) -> Outcome:
        """The current outcome; `Outcome.PLAYING` until the game is over."""
        return self.position.outcome

    @property
    def is_over(self) -> bool:
        """Whether the game is over: no move is legal, or the rules end the game at the target."""
        return not self.position.legal

    @property
    def has_won(self) -> bool:
        """Whether the target tile is on the board; under most rules, the game may continue."""
        return self.position.has_won

    @property
    def can_undo(self) -> bool:
        """Whether a turn can be undone."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether an undone turn can be redone."""
        return bool(self._undone)

    def has_drawn_start(self) -> bool:
        """Return whether the start position was drawn by the rules rather than set up by hand."""
        return self.start == start_from(self._rules, self._draws)

    def legal_directions(self) -> tuple[Direction, ...]:
        """Return the legal directions; empty when the game is over."""
        return self.position.legal

    def play(self, direction: Direction | str, *, spawn: Spawn | None = None) -> Turn:
        """Play a legal move.

        Args:
            direction: The direction to slide in.
            spawn: The tile to add after the slide, for example in a replay. Defaults to the
                generator's draw.

        Raises:
            DirectionError: If `direction` is not a direction.
            GameOverError: If the game is over.
            IllegalMoveError: If the slide changes nothing, or `spawn` is impossible. If an
                exception is raised, the game stays unchanged.
        """
        slide = self.board.slide(direction, self._rules.merging)
        if slide.direction not in self.position.legal:
            raise self._illegal_move_error(slide.direction)
        return self._play_new(slide, self._spawn_for(slide, spawn))

    def attempt(self, direction: Direction | str) -> bool:
        """Play a move if it is legal. Otherwise, apply the rules' penalty for illegal moves.

        A penalised attempt is a turn without a spawn. Penalised attempts change the score, are
        recorded, and can be undone. Attempts after the end of the game have no effect.

        Returns:
            Whether the move was legal.

        Raises:
            DirectionError: If `direction` is not a direction.
        """
        position = self.position
        slide = position.board.slide(direction, self._rules.merging)
        if slide.direction in position.legal:
            self._play_new(slide, self._draw_spawn(slide))
            return True
        if position.legal and isinstance(self._rules.scoring, MovePoints):
            self._play_new(slide, None)
        return False

    def undo(self) -> Turn | None:
        """Undo the last turn and return it, or `None` at the start."""
        if not self._past:
            return None
        self._undone.append(self.position)
        self.position = self._past.pop()
        if not self._past:
            self.finished = None
        return self._undone[-1].turn

    def redo(self) -> Turn | None:
        """Redo the last undone turn and return it, or `None` if there is none."""
        if not self._undone:
            return None
        self._reach(self._undone.pop())
        return self.position.turn

    def copy(self) -> Game:
        """Return an independent copy, including undone turns."""
        other = copy.copy(self)
        other._past, other._undone = self._past[:], self._undone[:]
        return other

    def positions(self) -> tuple[Position, ...]:
        """Return the positions at the start and after each turn."""
        return *self._past, self.position

    def record(self) -> Record:
        """Return the record of this game.

        The record contains the seed only if the generator drew every spawn from it, because
        `Record.verify` compares all spawns with the seed.
        """
        record = Record(
            rules=self._rules,
            start=self.start,
            turns="".join(map(encode_turn, self.turns)),
            score=self.score,
            seed=self._seed if self._is_seeded else None,
            player=plain_name(self.player),
            started=utc(self.started),
            finished="" if self.finished is None else utc(self.finished),
        )
        is_right = record.seed is None or record.follows_seed()
        return record if is_right else replace(record, seed=None)

    @classmethod
    def from_record(cls, record: Record) -> Game:
        """Return a game with all turns of `record` played, ready to be continued or undone.

        Raises:
            RecordError: If `record` is not a record, or a turn breaks the rules.
        """
        check_kind(record, Record, RecordError, "a record: Record.load reads one from a file")
        game = cls(record.rules, seed=record.seed, board=record.start, player=record.player)
        for _, turn, _ in record.replay():
            game._reach(position_after(game._rules, game.position, turn))
        return game

    @classmethod
    def from_history(cls, history: History) -> Game:
        """Replay a batch game. Illegal directions are replayed as attempts and may cost points."""
        game = cls(history.rules, seed=history.seed, board=history.start)
        for direction in history.directions:
            game.attempt(direction)
        return game

    def _illegal_move_error(self, direction: Direction) -> IllegalMoveError:
        if self._rules.ends_at_target and self.has_won:
            return GameOverError(f"the game is over: the target {self._rules.target} is reached")
        board = " / ".join(str(self.board).splitlines())
        if self.is_over:
            return GameOverError(f"the game is over: no move changes {board}")
        return IllegalMoveError(f"{direction} changes nothing on {board}")

    def _spawn_for(self, slide: Slide, wanted: Spawn | None) -> Spawn:
        if wanted is None:
            return self._draw_spawn(slide)
        check_kind(wanted, Spawn, IllegalMoveError, "a spawn: give Spawn(tile, cell)")
        error = spawn_error(self._rules, slide.board, slide.direction, wanted)
        if error:
            raise IllegalMoveError(f"{error} (ply {self.ply + 1}, after {slide.direction})")
        return wanted

    def _draw_spawn(self, slide: Slide) -> Spawn:
        word = self._draws(self.position.ply, slide.board)
        return draw_spawn(self._rules, slide.board, slide.direction, word)

    def _play_new(self, slide: Slide, spawn: Spawn | None) -> Turn:
        """Play a new turn and discard all undone turns."""
        turn = Turn(slide.direction, slide, spawn)
        self._undone.clear()
        self._reach(position_after(self._rules, self.position, turn))
        return turn

    def _reach(self, position: Position) -> None:
        self._past.append(self.position)
        self.position = position
        self.finished = time.time()

    def __repr__(self) -> str:
        return f"<Game {self._rules.name} seed={self._seed} ply={self.ply} score={self.score}>"

    def _repr_html_(self) -> str:
        """Return HTML with the board, score and number of moves, for notebooks."""
        from html import escape

        name = escape(self._rules.name)
        caption = f"{name}: {self.score:,} points, {self.ply:,} moves, {self.outcome.value}"
        return f"<div>{caption}</div>{self.board._repr_html_()}"
