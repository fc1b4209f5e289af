"""The game in plain text, for pipes, slow links and screen readers.

One line for each event, no escape codes, commands from standard input. The end of the input
ends the program; the game is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, TextIO

from py2048.app.controller.background import Failure, JobRunner, results
from py2048.app.controller.coach import Coach
from py2048.app.controller.controller import is_written
from py2048.app.controller.presenter import Start, opening
from py2048.app.controller.review import GameReview, keep_mistakes
from py2048.app.session import Event, Hint, Session, hint_player, review_game
from py2048.core.direction import Direction
from py2048.core.errors import DirectionError, Py2048Error, did_you_mean
from py2048.core.folders import expanded
from py2048.core.game.importing import load_record_file
from py2048.core.language import N_, _
from py2048.core.rules import Rules
from py2048.presentation import events
from py2048.presentation.actions import direction_of_word
from py2048.presentation.describe import describe, describe_board, describe_rules
from py2048.presentation.screen import CoachStatus, moves, preparing

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling

FIRST_PROGRESS_S, PROGRESS_PERIOD_S, LOOK_PERIOD_S = 1.0, 5.0, 0.1
"""Seconds before the compiler's progress is written, between two such lines, and between two looks
at it."""

HELP = (
    N_("Moves: left, right, up, down, or l, r, u; or the keys w, a, s, d, where d is right."),
    N_("undo: take the last move back. redo: play it again."),
    N_("board: read the board. score: read the score."),
    N_("hint: the best move and what the others lose. auto 10: let the player make ten moves."),
    N_("coach: judge each move as you play, or no longer; the game counts as assisted."),
    N_("review: what each mistake of the game lost; review 12: move 12; review FILE: a record."),
    N_("new: start a new game; with rules, such as: new 5x5, or: new classic:size=3x4."),
    N_("resume 5x5: continue the last game under these rules. rules: read the rules."),
    N_("save game.2048.json: write the game to a file."),
    N_("help: this help. quit: leave; the game is kept."),
)

TAKING_TEXT = "new", "n", "resume", "auto", "review", "save"
"""The commands that may be followed by something."""

SHORT = {"b": "board", "n": "new", "?": "hint", "h": "help", "z": "undo", "y": "redo"}
"""Short words for commands."""

MAX_LINE = 1000
"""The characters of a line that are read at once: an input need not have lines at all."""


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
        self._question: tuple[Callable[[], object], str] | None = None
        """What yes does, and what no is answered with."""
        self._waiting: Thread | None = None
        self._coach = Coach(session, self, JobRunner())
        self._due = 0.0  # when the compiler's progress is written next
        self._commands: dict[str, Callable[[str], object]] = {
            "undo": lambda _: self._step(session.undo, N_("There is nothing to undo.")),
            "redo": lambda _: self._step(session.redo, N_("There is nothing to redo.")),
            "new": self._new,
            "resume": self._resume,
            "hint": lambda _: self._hint(),
            "auto": self._auto,
            "board": lambda _: self._write_all(describe_board(session.game.board)),
            "score": lambda _: self._score(),
            "rules": lambda _: self._rules(),
            "coach": lambda _: self._toggle_coach(),
            "review": self._review,
            "save": self._save,
            "help": lambda _rest: self._write_all(map(_, HELP)),
        }

    def begin(self, start: Start | None = None) -> None:
        """Start or resume a game, or read out the one that has begun."""
        self._write(_("2048. Type help for the commands."))
        self.show(opening(self._session, start))
        self.show(self._session.check_saving())

    def _write_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._write(line)

    def show(self, happened: Iterable[Event]) -> bool:
        """Write what happened; return whether anything did."""
        is_any = False
        for event in happened:
            is_any = True
            what_next = (
                [_("Type new, undo or review.")] if isinstance(event, events.GameOver) else []
            )
            self._write(" ".join([describe(event), *what_next]))
            self._coach.follow(event)
            if isinstance(event, events.GameStarted | events.Moved | events.Undone):
                self._tell_coach()
        return is_any

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
                question[0]()
            elif question and word.lower() in ("n", "no"):
                self._write(question[1])
            else:
                self._do(word.lower(), rest.strip())
        except (Py2048Error, OSError) as error:
            self._write(f"{error}")
        return True

    def play_out(self) -> None:
        """Let the player play until the game is over."""
        while self._let_play():
            pass

    def _do(self, word: str, rest: str) -> None:
        command = self._commands.get(SHORT.get(word, word))
        try:
            direction = None if command else direction_of_word(word)
        except DirectionError:
            known = [*self._commands, "quit", *(str(direction) for direction in Direction)]
            text = _("Unknown command {word}. Type help.")
            self._write(text.format(word=f"{word!r}{did_you_mean(word, known)}"))
            return
        if rest and word not in TAKING_TEXT:
            text = _("{line}: nothing was done, {word} stands alone.")
            self._write(text.format(line=f"{word} {rest}", word=word))
        elif command:
            command(rest)
        elif direction and not self._is_over():
            self.show(self._session.move(direction))

    def _is_over(self) -> bool:
        """Return whether the game is over, of which its end has told; a move is answered."""
        if self._session.game.is_over:
            self._write(_("Nothing moves. Type new or undo."))
        return self._session.game.is_over

    def _do_after(self, question: str, action: Callable[[], object], no: str) -> None:
        """Do something; after a question, which the next line may answer, if there is one."""
        if question:
            self._question = action, no
            self._write(_("{question} Type yes or no.").format(question=question))
        else:
            action()

    # The game

    def _step(self, step: Callable[[], Iterable[Event]], nothing: str) -> None:
        if not self.show(step()):
            self._write(_(nothing))

    def _new(self, text: str) -> None:
        rules, is_asked = Rules.parse(text) if text else None, self._session.in_progress
        question = _("A game is in progress. Start a new one?") if is_asked else ""
        start = partial(self._session.start, rules)
        self._do_after(question, lambda: self.show(start()), _("The game continues."))

    def _resume(self, text: str) -> None:
        rules = Rules.parse(text) if text else None
        self._step(lambda: self._session.resume(rules), N_("There is no game to resume."))

    def _score(self) -> None:
        game = self._session.game
        said = [_("Score {score}.").format(score=game.score)]
        if self._session.best:
            said.append(_("Best {score}.").format(score=self._session.best))
        self._write(" ".join([*said, f"{moves(game.ply)}."]))

    def _rules(self) -> None:
        rules = self._session.rules
        text = _("Rules {name}: {rules}.")
        self._write(text.format(name=rules.name, rules=describe_rules(rules)))

    def _save(self, text: str) -> None:
        if not text:
            self._write(_("Name a file, such as save game.2048.json."))
            return
        path = expanded(text)
        question = _("{path} is there. Replace it?") if is_written(path) else ""
        self._do_after(question.format(path=path), partial(self._save_as, path), _("It stays."))

    def _save_as(self, path: Path) -> None:
        self._session.save_record(path)
        self._write(_("Saved as {path}.").format(path=path))

    # Hints and moves of a player

    @property
    def _player(self) -> str:
        """The spec of the player that gives hints and plays for `auto`."""
        usual = hint_player(self._session.rules, self._session.game.board)
        return self._wanted_player or str(self._session.get_setting("player", "")) or usual

    def _hint(self) -> None:
        """Write the player's hint; while it is being compiled, that of a quick one."""
        if self._is_over():
            return
        answers = self._session.advise(self._session.snapshot(), self._player)
        hint = next(answers)
        assert isinstance(hint, Hint)  # the first answer is
        self.show(self._session.show_hint(hint))
        if hint.instead_of and not (self._waiting and self._waiting.is_alive()):
            self._waiting = Thread(target=self._await, args=(answers,), daemon=True)
            self._waiting.start()

    def _await(self, answers: Iterator[Hint | Compiling]) -> None:
        """Write the compiler's progress and when the player is ready, while commands work."""
        try:
            hint = self._hint_of(answers)
            text = _("{player} is ready and now gives hints.")
            self._write(text.format(player=hint.player))
        except Py2048Error as error:
            self._write(f"{error}")

    def _hint_of(self, answers: Iterator[Hint | Compiling]) -> Hint:
        """Return the hint among the answers; write the compiler's progress until then."""
        self._due = monotonic() + FIRST_PROGRESS_S
        for answer in answers:
            if isinstance(answer, Hint):
                return answer
            self._tell_progress(f"{self._player}: {preparing(answer)}.")
            sleep(LOOK_PERIOD_S)
        raise AssertionError("advice ends with a hint")

    def _tell_progress(self, text: str) -> None:
        """Write the compiler's progress, the first time after a while and then now and then."""
        if monotonic() >= self._due:
            self._due = monotonic() + PROGRESS_PERIOD_S
            self._write(text)

    def _let_play(self) -> bool:
        """Let the player make a move; return whether it did."""
        if self._session.game.is_over:
            return False
        snapshot = self._session.snapshot()
        answers = self._session.advise(snapshot, self._player, only_move=True)
        return self.show(self._session.play_hint(self._hint_of(answers)))

    def _auto(self, text: str) -> None:
        if text and not text.isdecimal():
            told = _("{line}: give a number of moves, such as auto 10.")
            self._write(told.format(line=f"auto {text!r}"))
            return
        self._coach.pause(is_paused=True)
        for _move in range(int(text or 1)):
            if not self._let_play():
                break
        self._coach.pause(is_paused=False)
        self._tell_coach()

    # The coach and reviews

    def _toggle_coach(self) -> None:
        self._due = monotonic() + FIRST_PROGRESS_S
        was_on = self._coach.is_on
        self._write(self._coach.toggle())
        if not was_on:
            self._tell_coach()

    def _tell_coach(self) -> None:
        """Write what the coach says of the position."""
        if self._coach.is_on and not self._coach.is_paused and self._coach.sentences:
            self._write(_("Coach: {sentences}").format(sentences=self._coach.sentences))

    def warn(self, text: str) -> None:
        """Write a warning."""
        self._write(text)

    def show_coach(self, status: CoachStatus | None) -> None:  # noqa: ARG002 - it is told in sentences
        """Write the compiler's progress, if that is what the coach waits for."""
        if self._coach.progress:
            self._tell_progress(_("Coach: {sentences}").format(sentences=self._coach.progress))

    def _review(self, text: str) -> None:
        """Review the game, one move of it, or a record in a file."""
        if text and not text.isdecimal():
            self._write_review(GameReview(load_record_file(expanded(text))))
            return
        review = GameReview(self._session.record())
        if not 1 <= int(text or 1) <= len(review):
            told = _("{line}: the game has {moves}.")
            self._write(told.format(line=f"review {text}", moves=moves(len(review))))
            return
        is_over = self._session.game.is_over
        if not is_over:
            self._session.count_help()
        self._write_review(review, int(text) if text else None, keep=is_over)

    def _write_review(
        self, review: GameReview, ply: int | None = None, *, keep: bool = False
    ) -> None:
        """Write each mistake as it is found, and the summary; or all that is known of one move.

        Args:
            review: the review.
            ply: the one move.
            keep: put the mistakes into the notebook.
        """
        self._due = monotonic() + FIRST_PROGRESS_S
        for answer, pause_s in results(lambda: review_game(review.record)):
            review.receive(answer)
            match answer:
                case Failure(reason):
                    self._write(reason)
                case tuple():
                    for move in answer:
                        if move.ply == ply or (ply is None and move.grade.is_mistake):
                            review.seek(move.ply - 1)
                            self._write(review.sentences)
                case _ if review.judge is None:
                    self._tell_progress(f"{review.summary}.")
                    sleep(pause_s)
            if ply is not None and len(review.moves) >= ply:
                break
        if ply is None and review.review:
            if keep:
                review.note = keep_mistakes(self._session, review.review)
            self._write(review.summary)


def run(
    session: Session,
    stdin: TextIO,
    stdout: TextIO,
    *,
    player: str | None = None,
    begin: Start | None = None,
) -> int:
    """Play by lines until the input ends or says quit; return the exit status.

    Args:
        session: where the game is; it is left open.
        stdin: where commands come from, one a line.
        stdout: where the lines go.
        player: the spec of a player that plays the game to its end first, and gives hints.
        begin: starts a game if none was started; by default the last unfinished game is resumed,
            or a new one starts.

    Raises:
        KeyboardInterrupt: after Ctrl-C.
    """
    mode = PlainTextGame(session, lambda line: print(line, file=stdout, flush=True), player)
    try:
        mode.begin(begin)
        if player is not None:
            mode.play_out()
        # Not `for line in stdin`: a pipe's lines are answered as they come.
        while (line := stdin.readline(MAX_LINE)) and mode.obey(line):
            pass
    except BrokenPipeError:
        pass
    return 0
