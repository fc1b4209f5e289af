"""The plain text mode, for pipes, slow connections and screen readers.

The game reads one command per line and writes one line per event, without escape codes. At the end
of the input, the game is saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, TextIO, Unpack

from py2048.app.controller.background import JobRunner
from py2048.app.controller.coach import Coach
from py2048.app.controller.controller import ScreenOptions, Start, is_written, opening
from py2048.app.controller.review import GameReview, keep_mistakes
from py2048.app.session import Hint, Session, advise
from py2048.app.session.levels import LEVEL_SETTING
from py2048.core.direction import Direction
from py2048.core.errors import DirectionError, Py2048Error
from py2048.core.folders import expanded
from py2048.core.game.importing import load_record_file
from py2048.core.language import N_, _
from py2048.core.rules import Rules
from py2048.presentation import events
from py2048.presentation.actions import direction_of_word
from py2048.presentation.describe import describe, describe_board, describe_rules
from py2048.presentation.hints import player_name
from py2048.presentation.screen import CoachStatus, moves, preparing
from py2048.presentation.words import level_name

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling

# When the first report on the compiler's progress is due, and how often to report and poll.
PROGRESS_DELAY_S, PROGRESS_PERIOD_S, POLL_PERIOD_S = 1.0, 5.0, 0.1

HELP = (
    N_("Moves: left, right, up, down, or l, r, u; or the keys w, a, s, d, where d is right."),
    N_("undo: take back the last move. redo: play it again."),
    N_("board: read the board. score: read the score."),
    N_("hint: the best move and how the others compare. auto 10: let the computer make ten moves."),
    N_("coach: turn comments on your moves on or off; the game counts as assisted."),
    N_("review: the mistakes that cost most; review 12: move 12; review FILE: a record."),
    N_("level casual: judge moves for a casual player. Also me, beginner … expert, perfect."),
    N_("new: start a new game; with rules, such as: new 5x5, or: new classic:size=3x4."),
    N_("resume 5x5: continue the last game under these rules. rules: read the rules."),
    N_("save game.2048.json: write the game to a file."),
    N_("help: this help. quit: leave; the game is saved."),
)

ALIASES = {"b": "board", "n": "new", "?": "hint", "h": "help", "z": "undo", "y": "redo"}
MAX_LINE = 1000  # maximum characters per line, to limit memory use


class PlainTextGame:
    """A game that is played with text commands and described in sentences.

    Args:
        session: The session.
        write: Called with each line of output, without the line break.
        player: Spec of the player for hints and for the command `auto`.
    """

    def __init__(
        self, session: Session, write: Callable[[str], object], player: str | None = None
    ) -> None:
        self._session = session
        self._write = write
        self._preferred_player = player
        # While a yes-no question is open: the action for "yes" and the reply to "no".
        self._question: tuple[Callable[[], object], str] | None = None
        self._hint_thread: Thread | None = None
        self._coach = Coach(session, self, JobRunner())
        self._next_progress = 0.0
        self._commands: dict[str, Callable[[], object]] = {
            "undo": partial(self._step, session.undo, N_("There is nothing to undo.")),
            "redo": partial(self._step, session.redo, N_("There is nothing to redo.")),
            "hint": self._hint,
            "board": lambda: self._write_all(describe_board(session.game.board)),
            "score": self._score,
            "rules": self._rules,
            "coach": self._toggle_coach,
            "help": lambda: self._write_all(map(_, HELP)),
        }
        self._commands_with_argument: dict[str, Callable[[str], object]] = {
            "new": self._new,
            "resume": self._resume,
            "auto": self._auto,
            "review": self._review,
            "level": self._level,
            "save": self._save,
        }

    def begin(self, start: Start | None = None) -> None:
        """Describe the current game. Start or resume a game if the session has none."""
        self._write(_("2048. Type help for the commands."))
        self.show(opening(self._session, start))
        self.show(self._session.check_saving())

    def _write_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._write(line)

    def show(self, happened: Iterable[events.Event]) -> bool:
        """Describe events in sentences. Return whether there were any events."""
        happened = tuple(happened)
        for event in happened:
            text = describe(event)
            if isinstance(event, events.GameOver):
                text += " " + _("Type new, undo or review.")
            self._write(text)
            if self._coach.is_on:
                self._coach.follow(event)
            if isinstance(event, events.GameStarted | events.Moved | events.Undone):
                self._write_coach()
        return bool(happened)

    def execute(self, line: str) -> bool:
        """Execute a command and write errors. Return whether to continue."""
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

    def _do(self, word: str, rest: str) -> None:
        name = ALIASES.get(word, word)
        if name in self._commands_with_argument:
            self._commands_with_argument[name](rest)
            return
        try:
            command = self._commands.get(name) or partial(self._move, direction_of_word(word))
        except DirectionError:
            known = [*self._commands, *self._commands_with_argument, "quit", *map(str, Direction)]
            text = _("Unknown command {word}. Type help.")
            if near := get_close_matches(word, known, n=1):
                text = _("Unknown command {word}. Did you mean {near}? Type help.")
            self._write(text.format(word=repr(word), near=", ".join(map(repr, near))))
            return
        if rest:
            text = _("{line}: {word} takes no argument; type it alone.")
            self._write(text.format(line=f"{word} {rest}", word=word))
        else:
            command()

    def _move(self, direction: Direction) -> None:
        if not self._is_over():
            self.show(self._session.move(direction))

    def _is_over(self) -> bool:
        """If the game is over, write the possible commands and return True."""
        if self._session.game.is_over:
            self._write(_("The game is over. Type new or undo."))
        return self._session.game.is_over

    def _confirm(self, question: str, action: Callable[[], object], no: str) -> None:
        """Run `action`, after asking for confirmation if `question` is not empty."""
        if question:
            self._question = action, no
            self._write(_("{question} Type yes or no.").format(question=question))
        else:
            action()

    # The game

    def _step(self, step: Callable[[], Iterable[events.Event]], nothing: str) -> None:
        if not self.show(step()):
            self._write(_(nothing))

    def _new(self, text: str) -> None:
        start = partial(self._session.start, Rules.parse(text) if text else None)
        in_progress = self._session.in_progress
        question = _("A game is in progress. Start a new one?") if in_progress else ""
        self._confirm(question, lambda: self.show(start()), _("The game continues."))

    def _resume(self, text: str) -> None:
        rules = Rules.parse(text) if text else None
        self._step(lambda: self._session.resume(rules), N_("There is no game to resume."))

    def _score(self) -> None:
        game = self._session.game
        sentences = [_("Score {score}.").format(score=game.score)]
        if self._session.best:
            sentences.append(_("Best {score}.").format(score=self._session.best))
        self._write(" ".join([*sentences, f"{moves(game.ply)}."]))

    def _rules(self) -> None:
        rules = self._session.rules
        text = _("Rules {name}: {rules}.")
        self._write(text.format(name=rules.name, rules=describe_rules(rules)))

    def _save(self, text: str) -> None:
        if not text:
            self._write(_("Name a file, such as save game.2048.json."))
            return
        path = expanded(text)
        question = _("{path} already exists. Replace it?") if is_written(path) else ""
        kept = _("The file was not replaced.")
        self._confirm(question.format(path=path), partial(self._save_as, path), kept)

    def _save_as(self, path: Path) -> None:
        self._session.save_record(path)
        self._write(_("Saved as {path}.").format(path=path))

    # Hints and autoplay

    @property
    def _player(self) -> str:
        """Spec of the player for hints and for the command `auto`."""
        chosen = self._preferred_player or str(self._session.get_setting("player", ""))
        return chosen or self._session.best_player

    def _name(self, spec: str) -> str:
        return player_name(spec, self._session.best_player)

    def _hint(self) -> None:
        """Write the chosen player's hint or, while it compiles, a faster player's hint."""
        if self._is_over():
            return
        session, player = self._session, self._player
        level = session.level() if player == session.best_player else None
        answers = advise(session.snapshot(), session.get_player(player), level)
        hint = next(answers)
        assert isinstance(hint, Hint)
        if not hint.instead_of:  # The player's final hint includes chances.
            hint = [hint, *(each for each in answers if isinstance(each, Hint))][-1]
        self.show(self._session.show_hint(hint))
        if hint.instead_of and not (self._hint_thread and self._hint_thread.is_alive()):
            self._hint_thread = Thread(target=self._wait_for_player, args=(answers,), daemon=True)
            self._hint_thread.start()

    def _wait_for_player(self, answers: Iterator[Hint | Compiling]) -> None:
        """Report the compiler's progress from a thread until the player is ready."""
        try:
            hint = self._hint_of(answers)
            text = _("{player} is ready and now gives hints.")
            self._write(text.format(player=self._name(hint.player)))
        except Py2048Error as error:
            self._write(f"{error}")

    def _hint_of(self, answers: Iterator[Hint | Compiling]) -> Hint:
        """Wait for the hint, and report the compiler's progress in the meantime."""
        self._next_progress = monotonic() + PROGRESS_DELAY_S
        for answer in answers:
            if isinstance(answer, Hint):
                return answer
            self._write_progress(f"{self._name(self._player)}: {preparing(answer)}.")
            sleep(POLL_PERIOD_S)
        raise AssertionError("advice ends with a hint")

    def _write_progress(self, text: str) -> None:
        """Report non-empty progress at most once every `PROGRESS_PERIOD_S` seconds."""
        if text and monotonic() >= self._next_progress:
            self._next_progress = monotonic() + PROGRESS_PERIOD_S
            self._write(text)

    def autoplay_step(self) -> bool:
        """Let the player make a move. Return False if the game is over."""
        if self._session.game.is_over:
            return False
        player = self._session.get_player(self._player)
        answers = advise(self._session.snapshot(), player, only_move=True)
        return self.show(self._session.play_hint(self._hint_of(answers)))

    def _auto(self, text: str) -> None:
        if text and not text.isdecimal():
            error = _("{line}: give a number of moves, such as auto 10.")
            self._write(error.format(line=f"auto {text!r}"))
            return
        self._coach.pause(is_paused=True)
        for _move in range(int(text or 1)):
            if not self.autoplay_step():
                break
        self._coach.pause(is_paused=False)
        self._write_coach()

    # Coach and reviews

    def _toggle_coach(self) -> None:
        self._next_progress = monotonic() + PROGRESS_DELAY_S
        was_on = self._coach.is_on
        self._write(self._coach.toggle())
        if not was_on:
            self._write_coach()

    def _write_coach(self) -> None:
        """Write the coach's comments on the position if the coach is on."""
        if self._coach.is_on and not self._coach.is_paused and self._coach.sentences:
            self._write(_("Coach: {sentences}").format(sentences=self._coach.sentences))

    def warn(self, text: str) -> None:
        """Write a warning."""
        self._write(text)

    def show_coach(self, status: CoachStatus | None) -> None:  # noqa: ARG002 - `show` writes sentences
        """Report the compiler's progress while the coach waits for the compiler."""
        if self._coach.progress:
            self._write_progress(_("Coach: {sentences}").format(sentences=self._coach.progress))

    def _level(self, text: str) -> None:
        """Set the skill level for judging moves, and display its name."""
        level = self._session.level(text=text.lower())
        if text:
            self._session.set_setting(LEVEL_SETTING, text.lower())
            self._coach.restart()
        self._write(_("Level: {level}").format(level=level_name(level)))

    def _review(self, text: str) -> None:
        """Review the game, a single move, or a record in a file."""
        if text and not text.isdecimal():
            record = load_record_file(expanded(text))
            self._write_review(GameReview(record, self._session.level(record.rules)))
            return
        review = GameReview(self._session.record(), self._session.level())
        if not 1 <= int(text or 1) <= len(review):
            error = _("{line}: the game has {moves}.")
            self._write(error.format(line=f"review {text}", moves=moves(len(review))))
            return
        is_over = self._session.game.is_over
        if not is_over:
            self._session.count_help()
        self._write_review(review, int(text) if text else None, keep=is_over)

    def _write_review(
        self, review: GameReview, ply: int | None = None, *, keep: bool = False
    ) -> None:
        """Write the review of one move or, if `ply` is None, the costliest moves and the summary.

        Args:
            review: The review.
            ply: Number of the move, or None for the whole game.
            keep: Whether to add the mistakes to the practice notebook.
        """
        self._next_progress = monotonic() + PROGRESS_DELAY_S
        review.changed = lambda: self._write_progress(review.progress)
        review.start(JobRunner(), lambda _review: None)
        if review.review is None:
            self._write(review.error)
            return
        shown = [ply] if ply else [move.ply for move in review.review.moments]
        for each in shown:
            review.seek(each - 1)
            self._write(review.sentences)
        if ply is None:
            if keep:
                review.note = keep_mistakes(self._session, review.review)
            self._write(review.summary)


def run(session: Session, stdin: TextIO, stdout: TextIO, **options: Unpack[ScreenOptions]) -> int:
    """Execute commands until `quit` or the end of the input. Return the exit status.

    Args:
        session: An open session, which the caller closes.
        stdin: The input, with one command per line.
        stdout: Output.
        options: See `ScreenOptions`. If a player is given, it plays the game to the end before
            any command is read.

    Raises:
        KeyboardInterrupt: If the player presses Ctrl-C.
    """
    player = options.get("player")
    game = PlainTextGame(session, lambda line: print(line, file=stdout, flush=True), player)
    try:
        game.begin(options.get("begin"))
        while player is not None and game.autoplay_step():
            pass
        # Iterating over a pipe would read ahead, which delays the output.
        while (line := stdin.readline(MAX_LINE)) and game.execute(line):
            pass
    except BrokenPipeError:
        pass
    return 0
