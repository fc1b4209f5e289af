"""The game in plain text, for pipes, slow links and screen readers.

One line for each event, no escape codes, commands from standard input. The end of the input
ends the program; the game is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple, TextIO

from py2048.direction import Direction
from py2048.errors import DirectionError, Py2048Error, did_you_mean
from py2048.folders import expanded
from py2048.game.importing import load_record_file
from py2048.rules import Rules
from py2048.session import Event, GameStarted, Hint, Moved, Session, Undone, hint_player
from py2048.ui.shared.actions import direction_of_word
from py2048.ui.shared.background import ForegroundWorker, WorkResult
from py2048.ui.shared.coach import Coach
from py2048.ui.shared.controller import current_events, is_written
from py2048.ui.shared.describe import describe, describe_board, describe_rules
from py2048.ui.shared.review import GameReview, keep_mistakes
from py2048.ui.shared.screen import CoachStatus
from py2048.ui.shared.words import counted

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling

FIRST_PROGRESS, PROGRESS_PERIOD, LOOK_PERIOD = 1.0, 5.0, 0.1
"""Seconds before the compiler's progress is written, between two such lines, and between two looks
at it."""

HELP = (
    "Moves: left, right, up, down, or l, r, u; or the keys w, a, s, d, where d is right.",
    "undo: take the last move back. redo: play it again.",
    "board: read the board. score: read the score.",
    "hint: the best move and what the others lose. auto 10: let the player make ten moves.",
    "coach: judge each move as you play, or no longer; the game counts as assisted.",
    "review: what each mistake of the game lost; review 12: move 12; review FILE: a record.",
    "new: start a new game; with rules, such as: new 5x5, or: new classic:size=3x4.",
    "resume 5x5: continue the last game under these rules. rules: read the rules.",
    "save game.2048.json: write the game to a file.",
    "help: this help. quit: leave; the game is kept.",
)

TAKING_TEXT = "new", "n", "resume", "auto", "review", "save"
"""The commands that may be followed by something."""

LONGEST = 1000
"""The characters of a line that are read at once: an input need not have lines at all."""


class _Question(NamedTuple):
    """What yes does, and what no is answered with."""

    yes: Callable[[], object]
    no: str


class PlainTextGame:
    """Reads commands, does them in a session, and writes what happens.

    Args:
        session: where the game is.
        write: takes each line, without its end.
        player: the spec of the player that gives hints and plays for `auto`.
    """

    def __init__(
        self, session: Session, write: Callable[[str], object], player: str | None = None
    ) -> None:
        self._session = session
        self._write = write
        self._wanted_player = player
        self._question: _Question | None = None
        self._waiting: Thread | None = None
        self._coach = Coach(session, self, ForegroundWorker)
        self._told = 0.0
        self._commands: dict[str, Callable[[str], None]] = {
            "undo": self._undo,
            "redo": self._redo,
            "new": self._new,
            "resume": self._resume,
            "hint": self._hint,
            "auto": self._auto,
            "board": self._board,
            "score": self._score,
            "rules": self._rules,
            "coach": self._toggle_coach,
            "review": self._review,
            "save": self._save,
            "help": self._help,
        }
        self._words = self._commands | {
            "b": self._board, "n": self._new,
            "?": self._hint, "h": self._help, "z": self._undo, "y": self._redo,
        }  # fmt: skip

    def begin(self) -> None:
        """Start or resume a game, or read out the one that has begun."""
        self._write("2048. Type help for the commands.")
        if self._session.version > 0:
            for event in current_events(self._session):
                self.show(event)
        elif not self._session.resume():
            self._session.start()

    def show(self, event: Event) -> None:
        """Write what happened."""
        self._write(describe(event))
        self._coach.follow(event)
        if isinstance(event, (GameStarted, Moved, Undone)):
            self._tell_coach()

    # The coach

    def _toggle_coach(self, _: str) -> None:
        if self._coach.is_on:
            self._coach.stop()
            self._write("The coach is off.")
            return
        self._write("The coach judges your moves; the game counts as assisted.")
        self._told = monotonic() + FIRST_PROGRESS
        self._coach.start()
        self._tell_coach()

    def _tell_coach(self) -> None:
        """Write what the coach says of the position."""
        if self._coach.is_on and not self._coach.is_paused and self._coach.sentences:
            self._write(f"Coach: {self._coach.sentences}")

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show nothing yet: the coach is asked when it has judged."""

    def receive(self, result: WorkResult) -> None:
        """Hand a result to the coach, and write the compiler's progress."""
        if result.error:
            self._coach.stop()
            self._write(f"the coach cannot judge this game: {result.error}")
            return
        self._coach.take(result)
        if result.compiling and monotonic() >= self._told:
            self._told = monotonic() + PROGRESS_PERIOD
            self._write(f"The judge is {result.compiling}.")

    def await_results(self) -> None:
        """Do nothing: the coach judges at once."""

    def obey(self, line: str) -> bool:
        """Do what a line says; return whether to continue. Mistakes are answered, never raised."""
        word, _, rest = line.strip().partition(" ")
        question, self._question = self._question, None
        if not word:
            return True
        if word.lower() in ("quit", "q", "exit"):
            return False
        try:
            if question and word.lower() in ("y", "yes"):
                question.yes()
            elif question and word.lower() in ("n", "no"):
                self._write(question.no)
            else:
                self._do(word.lower(), rest.strip())
        except (Py2048Error, OSError) as error:
            self._write(f"{error}")
        return True

    def _ask(self, text: str, yes: Callable[[], object], no: str) -> None:
        """Ask a question, which the next line may answer."""
        self._question = _Question(yes, no)
        self._write(f"{text} Type yes or no.")

    def play_out(self) -> None:
        """Let the player play until the game is over."""
        while self._step():
            pass

    def _do(self, word: str, rest: str) -> None:
        try:
            direction = None if word in self._words else direction_of_word(word)
        except DirectionError:
            known = [*self._commands, "quit", *(str(direction) for direction in Direction)]
            self._write(f"Unknown command {word!r}{did_you_mean(word, known)}. Type help.")
            return
        if rest and word not in TAKING_TEXT:
            self._write(f"{word} {rest}: nothing was done, {word} stands alone.")
        elif direction is None:
            self._words[word](rest)
        elif self._session.game.is_over:
            self._write("The game is over. Type new or undo.")
        else:
            self._session.move(direction)

    @property
    def _player(self) -> str:
        """The spec of the player that gives hints and plays for `auto`."""
        usual = hint_player(self._session.rules, self._session.game.board)
        return self._wanted_player or str(self._session.get_setting("player", usual))

    def _undo(self, _: str) -> None:
        if not self._session.undo():
            self._write("There is nothing to take back.")

    def _redo(self, _: str) -> None:
        if not self._session.redo():
            self._write("There is no move to play again.")

    def _new(self, text: str) -> None:
        rules = Rules.parse(text) if text else self._session.rules
        if self._session.in_progress:
            self._ask(
                "A game is in progress. Start a new one?",
                lambda: self._session.start(rules),
                "The game continues.",
            )
        else:
            self._session.start(rules)

    def _resume(self, text: str) -> None:
        if not self._session.resume(Rules.parse(text) if text else None):
            self._write("There is no game to resume.")

    def _hint(self, _: str) -> None:
        if self._session.game.is_over:
            self._write("The game is over. Type new or undo.")
        else:
            self._advise()

    def _advise(self) -> None:
        """Write the player's hint; while it is being compiled, that of a quick one."""
        answers = self._session.advise(self._session.snapshot(), self._player)
        hint = next(answers)
        assert isinstance(hint, Hint)  # the first answer is
        self._session.show_hint(hint)
        if hint.instead_of and not (self._waiting and self._waiting.is_alive()):
            self._waiting = Thread(target=self._await, args=(answers,), daemon=True)
            self._waiting.start()

    def _await(self, answers: Iterator[Hint | Compiling]) -> None:
        """Write the compiler's progress and when the player is ready, while commands work."""
        try:
            for answer in self._hints_of(answers):
                self._write(f"{answer.player} is ready: it gives hints from now on.")
        except Py2048Error as error:
            self._write(f"{error}")

    def _hints_of(self, answers: Iterator[Hint | Compiling]) -> Iterator[Hint]:
        """Yield the hints among the answers; write the progress every few seconds."""
        told = monotonic() + FIRST_PROGRESS
        for answer in answers:
            if isinstance(answer, Hint):
                yield answer
            elif monotonic() >= told:
                told = monotonic() + PROGRESS_PERIOD
                self._write(f"{self._player}: {answer}.")
            if not isinstance(answer, Hint):
                sleep(LOOK_PERIOD)

    def _step(self) -> bool:
        """Let the player make a move; return whether it did."""
        if self._session.game.is_over:
            return False
        snapshot = self._session.snapshot()
        answers = self._session.advise(snapshot, self._player, only_move=True)
        return bool(self._session.play_hint(next(self._hints_of(answers))))

    def _auto(self, text: str) -> None:
        if text and not text.isdecimal():
            self._write(f"auto {text!r}: give a number of moves, such as auto 10.")
            return
        self._coach.pause(is_paused=True)
        for _ in range(int(text or 1)):
            if not self._step():
                break
        self._coach.pause(is_paused=False)
        self._tell_coach()

    def _board(self, _: str) -> None:
        for line in describe_board(self._session.game.board):
            self._write(line)

    def _score(self, _: str) -> None:
        game = self._session.game
        best = f" Best {self._session.best}." if self._session.best else ""
        self._write(f"Score {game.score}.{best} {counted(game.ply, 'move')}.")

    def _rules(self, _: str) -> None:
        rules = self._session.rules
        self._write(f"Rules {rules.name}: {describe_rules(rules)}.")

    def _review(self, text: str) -> None:
        """Review the game, one move of it, or a record in a file."""
        if text and not text.isdecimal():
            self._write_review(GameReview(load_record_file(expanded(text))))
            return
        review = GameReview(self._session.record())
        if not 1 <= int(text or 1) <= len(review):
            self._write(f"review {text}: the game has {counted(len(review), 'move')}.")
            return
        if not self._session.game.is_over:
            self._session.count_help()
        keep = self._session.game.is_over
        self._write_review(review, int(text) if text else None, keep=keep)

    def _write_review(
        self, review: GameReview, ply: int | None = None, *, keep: bool = False
    ) -> None:
        """Write each mistake as it is found, and the summary; or all that is known of one move.

        Args:
            review: the review.
            ply: the one move.
            keep: put the mistakes into the notebook.
        """
        told = monotonic() + FIRST_PROGRESS
        for result in review.results():
            review.take(result)
            if result.error:
                self._write(result.error)
            for move in result.moves:
                if move.ply == ply or (ply is None and move.grade.is_mistake):
                    review.seek(move.ply - 1)
                    self._write(review.sentences)
            if ply is not None and len(review.moves) >= ply:
                break
            if result.compiling and monotonic() >= told:
                told = monotonic() + PROGRESS_PERIOD
                self._write(f"{review.summary}.")
            if result.compiling:
                sleep(LOOK_PERIOD)
        if ply is None and review.review:
            if keep:
                review.note = keep_mistakes(self._session, review.review)
            self._write(review.summary)

    def _save(self, text: str) -> None:
        if not text:
            self._write("Name a file, such as save game.2048.json.")
            return
        path = expanded(text)
        if is_written(path):
            self._ask(f"{path} is there. Replace it?", lambda: self._save_as(path), "It stays.")
        else:
            self._save_as(path)

    def _save_as(self, path: Path) -> None:
        self._session.save_record(path)
        self._write(f"Saved as {path}.")

    def _help(self, _: str) -> None:
        for line in HELP:
            self._write(line)


def run(session: Session, stdin: TextIO, stdout: TextIO, *, player: str | None = None) -> int:
    """Play by lines until the input ends or says quit; return the exit status.

    Args:
        session: where the game is; it is left open. If nothing was started on it, the last
            unfinished game is resumed, or a new one starts.
        stdin: where commands come from, one a line.
        stdout: where the lines go.
        player: the spec of a player that plays the game to its end first, and gives hints.

    Raises:
        KeyboardInterrupt: after Ctrl-C.
    """

    def write(line: str) -> None:
        print(line, file=stdout, flush=True)

    mode = PlainTextGame(session, write, player)
    stop = session.subscribe(mode.show)
    try:
        mode.begin()
        if player is not None:
            mode.play_out()
        # Not `for line in stdin`: a pipe's lines are answered as they come.
        while (line := stdin.readline(LONGEST)) and mode.obey(line):
            pass
    except BrokenPipeError:
        pass
    finally:
        stop()
    return 0
