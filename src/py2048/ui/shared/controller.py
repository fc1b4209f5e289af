"""`Controller`: does what a player asks for. Terminal and window share it.

It has an object for each subject (the game, the players, records, reviews, practice), and each
object says which actions of `py2048.ui.shared.actions` it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import BoardError, Py2048Error, RecordError, StorageError, os_errors_as
from py2048.game import Record
from py2048.game.importing import NoGameError, load_record_file, parse_records
from py2048.players import list_players
from py2048.rules import RandomStart, Rules, get_rules, list_rules
from py2048.session import Event, Hint, Session, hint_player
from py2048.ui.shared.background import (
    SPEEDS,
    START_SPEED,
    Autoplay,
    BackgroundWorker,
    Failure,
)
from py2048.ui.shared.coach import SETTING as COACH_SETTING
from py2048.ui.shared.coach import Coach
from py2048.ui.shared.describe import describe, describe_rules
from py2048.ui.shared.presenter import PACES, GameScreen, Presenter, current_events, fault_of
from py2048.ui.shared.review import GameReview, keep_mistakes
from py2048.ui.shared.screen import RECORDS, Choice, ListRequest, counted
from py2048.ui.shared.themes import Theme, get_theme, next_theme

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.ui.shared.practice import Drill

RULES_TEXT = "or rules as a text, such as classic:size=5x5"
PLAYER_TEXT = "or a player with options, such as expectimax:depth=3"

CURRENT = "current"
"""Stands for the current game in a list of records: the store has no name for it."""

KEEPS_PLAYING = frozenset(
    {"autoplay", "faster", "slower", "coach", "theme", "animation", "full_screen", "copy"}
)
"""The actions that do not stop autoplay."""

Start = Callable[[Session], Iterable[Event]]
Commands = Mapping[str, Callable[[], object]]
"""What does the actions, by their names in `py2048.ui.shared.actions`."""


class Controller:
    """Does what a player asks for, and shows the result.

    Args:
        session: where the game is.
        screen: the front end.
        theme: the colours that the screen has.
        reduced_motion: show moves without animation; by default as chosen last.
        player: the spec of the player that gives hints and plays by itself; by default the one
            chosen last.
        text_of: returns the message for an event.

    Attributes:
        presenter: shows what happens.
        coach: judges moves while they are played.
        players: hints and autoplay.
        game: moves, and which game is played.
        records: games in files, and finished ones.
        reviews: what each move of a game was worth.
        practice: mistakes, puzzles and endings.
        commands: does the actions; a front end adds those that only it has.
    """

    def __init__(
        self,
        session: Session,
        screen: GameScreen,
        theme: Theme,
        *,
        reduced_motion: bool = False,
        player: str | None = None,
        text_of: Callable[[Event], str] = describe,
    ) -> None:
        self.session, self.screen, self.theme = session, screen, theme
        self.presenter = presenter = Presenter(session, screen, text_of)
        animated = session.get_setting("animation", True) is not False
        presenter.is_animated = animated and not reduced_motion
        self._judging = BackgroundWorker(screen)
        self.coach = Coach(session, screen, self._judging, presenter.show_status)
        presenter.follow = self.coach.follow
        self.players = PlayerCommands(presenter, self.coach, player)
        self.game = GameCommands(presenter, self.players.autoplay.stop)
        self.records = RecordCommands(presenter, self.game)
        self.reviews = ReviewCommands(presenter, self.game, self.records)
        self.practice = PracticeCommands(presenter)
        self.commands: dict[str, Callable[[], object]] = {
            **self.game.commands,
            **self.players.commands,
            **self.records.commands,
            **self.reviews.commands,
            **self.practice.commands,
            "coach": self._toggle_coach,
            "theme": lambda: self.set_theme(next_theme(self.theme.name).name),
            "animation": self._toggle_animation,
            "help": screen.show_help,
            "quit": self._quit,
        }

    def begin(self, start: Start | None = None) -> None:
        """Show the session's game; if there is none yet, `start` or resume one."""
        session, show = self.session, self.presenter.show
        if session.get_setting(COACH_SETTING, False) is True:
            self.coach.start()
        if session.version > 0:
            show(current_events(session))
        else:
            try:
                show((start or self._resume_or_start)(session))
            except StorageError as error:
                self.screen.warn(str(error))
                show(session.start(self._remembered_rules()))
        show(session.check_saving())
        if session.unsaved:
            self.screen.show_unsaved(session.unsaved)

    def _resume_or_start(self, session: Session) -> Iterable[Event]:
        return session.resume() or session.start(self._remembered_rules())

    def _remembered_rules(self) -> Rules:
        try:
            return Rules.parse(str(self.session.get_setting("rules", "classic")))
        except Py2048Error:
            return get_rules("classic")

    def close(self) -> None:
        """Leave the session to others."""
        self.players.close()
        self.practice.close()
        self.reviews.close()
        self._judging.close()

    def do(self, name: str) -> None:
        """Do the action called `name`; most end autoplay."""
        if name not in KEEPS_PLAYING:
            self.players.autoplay.stop()
        self.commands[name]()

    @property
    def is_waiting(self) -> bool:
        """Whether answers of a player or a judge are to come."""
        subjects = self.players, self.reviews, self.practice
        return self._judging.is_busy or any(each.is_waiting for each in subjects)

    def _quit(self) -> None:
        """Quit, after asking if something cannot be saved."""
        if reason := self.session.settle():
            text = f"Not saved: {reason}. Quit all the same?"
            self.screen.ask(text, "Quit", "Stay", self.screen.quit)
        else:
            self.screen.quit()

    def _toggle_coach(self) -> None:
        """Judge moves while they are played, or no longer."""
        said = self.coach.toggle()
        self.presenter.remember(COACH_SETTING, self.coach.is_on)
        self.screen.say(said)

    # Looks

    def set_theme(self, name: str) -> None:
        """Change the colours."""
        self.theme = get_theme(name)
        self.screen.set_theme(self.theme)
        self._keep_look("theme", name, f"Theme: {self.theme.title}.")

    def set_animation_speed(self, name: str) -> None:
        """Animate at another speed, a key of `PACES`."""
        self.presenter.speed = name
        self._keep_look("animation_speed", name, f"Animation speed: {name}.")

    def remember_animation_speed(self) -> None:
        """Animate at the speed chosen last."""
        name = str(self.session.get_setting("animation_speed", "normal"))
        self.presenter.speed = name if name in PACES else "normal"

    def _toggle_animation(self) -> None:
        is_animated = self.presenter.is_animated = not self.presenter.is_animated
        self.screen.finish_motion()
        self._keep_look("animation", is_animated, f"Animation {'on' if is_animated else 'off'}.")

    def _keep_look(self, key: str, value: object, said: str) -> None:
        self.presenter.remember(key, value)
        self.screen.say(said)
        self.presenter.show_status()


class PlayerCommands:
    """Who gives hints and plays by itself.

    Args:
        presenter: shows what happens.
        coach: pauses while a player plays.
        player: the spec of the player; by default the one chosen last.
    """

    def __init__(self, presenter: Presenter, coach: Coach, player: str | None) -> None:
        self._presenter, self._coach, self._wanted = presenter, coach, player
        self._session, self._screen = presenter.session, presenter.screen
        self._worker = BackgroundWorker(self._screen)
        self._was_compiling = False
        self.autoplay = Autoplay(
            self._session,
            self._worker,
            self._screen.later,
            presenter.show,
            self._autoplay_changed,
            self._screen.warn,
        )
        speed = self._session.get_setting("autoplay_speed", START_SPEED)
        self.autoplay.speed = speed if speed in SPEEDS else START_SPEED
        self.commands: Commands = {
            "hint": self.hint,
            "autoplay": self.toggle_autoplay,
            "faster": lambda: self.change_speed(1),
            "slower": lambda: self.change_speed(-1),
            "player": self.choose,
        }

    @property
    def is_waiting(self) -> bool:
        """Whether a player is asked for something."""
        return self._worker.is_busy

    def close(self) -> None:
        """Ask no more."""
        self.autoplay.stop()
        self._worker.close()

    @property
    def player(self) -> str:
        """The spec of the player."""
        usual = hint_player(self._session.rules, self._session.game.board)
        return self._wanted or str(self._session.get_setting("player", usual))

    def choose(self) -> None:
        """Choose another player."""
        self._screen.choose(
            ListRequest(
                "Player for hints and autoplay",
                [Choice(name, name) for name in list_players()],
                self.set_player,
                current=self.player.partition(":")[0],
                own=PLAYER_TEXT,
                check=lambda text: fault_of(lambda: self._session.get_player(text)),
            )
        )

    def set_player(self, spec: str) -> None:
        """Let another player give hints and play."""
        is_on = self.autoplay.is_on
        self.autoplay.stop()
        self._wanted = None
        self._presenter.remember("player", spec)
        self._screen.say(f"Hints and autoplay by {spec}.")
        self._presenter.show_status()
        if is_on:
            self.autoplay.start(spec)

    def hint(self) -> None:
        """Ask the player what to do, in the background."""
        session, player = self._session, self.player
        if session.game.is_over:
            self._screen.say("The game is over: there is no move to hint at.")
            return
        self._screen.cover(None, is_animated=False)
        self._show_note(f"{player} is thinking …")
        snapshot = session.snapshot()
        self._was_compiling = False
        self._worker.ask(lambda: session.advise(snapshot, player), partial(self._take, player))

    def _take(self, player: str, answer: Hint | Compiling | Failure) -> None:
        """Show a hint, unless the game has moved on, and the compiler's progress."""
        match answer:
            case Failure(reason):
                self._show_note("")
                self._screen.warn(reason)
            case Hint():
                if not answer.instead_of:
                    self._show_note("")
                is_shown = self._presenter.show(self._session.show_hint(answer))
                if not is_shown and self._was_compiling:
                    self._screen.say(f"{answer.player} is ready: it gives hints from now on.")
            case compiling:
                self._was_compiling = True
                self._show_note(f"{player}: {compiling}")

    def _show_note(self, note: str) -> None:
        self._presenter.note = note
        self._presenter.show_status()

    def toggle_autoplay(self) -> None:
        """Let the player play, or stop it."""
        if self.autoplay.is_on:
            self.autoplay.stop()
        elif self._session.game.is_over:
            self._screen.say("The game is over: there is nothing to play.")
        else:
            self._screen.cover(None, is_animated=False)
            self.autoplay.start(self.player)

    def change_speed(self, step: int) -> None:
        """Go to the next speed of autoplay up (1) or down (-1), where there is one."""
        self.set_speed(SPEEDS.index(self.autoplay.speed) + step)

    def set_speed(self, index: int) -> None:
        """Play at ``SPEEDS[index]``, or at the slowest or fastest speed beyond its ends."""
        speed = SPEEDS[min(max(index, 0), len(SPEEDS) - 1)]
        if speed == self.autoplay.speed:
            return
        self.autoplay.speed = speed
        self._presenter.remember("autoplay_speed", speed)
        if self.autoplay.is_on:
            self._autoplay_changed()
        else:
            self._presenter.show_status()
        text = "as fast as it can" if speed == SPEEDS[-1] else f"{speed} moves a second"
        self._screen.say(f"Autoplay: {text}.")

    def _autoplay_changed(self) -> None:
        autoplay = self.autoplay
        self._presenter.interval_s = autoplay.interval_s if autoplay.is_on else None
        self._coach.pause(is_paused=autoplay.is_on)
        self._show_note(str(autoplay))


class GameCommands:
    """Moves, and which game is played.

    Args:
        presenter: shows what happens.
        stop: ends autoplay.

    Attributes:
        more_rules: further buttons of the list of rules.
        open_pasted: opens a game that was pasted; by default it is continued.
    """

    def __init__(self, presenter: Presenter, stop: Callable[[], object]) -> None:
        self._presenter, self._stop = presenter, stop
        self._session, self._screen = presenter.session, presenter.screen
        session = self._session
        self.more_rules: tuple[tuple[str, Callable[[], object]], ...] = ()
        self.open_pasted: Callable[[Record], object] = lambda record: self.replace(
            lambda: session.start_from(record)
        )
        self.commands: Commands = {
            **{str(each): partial(self.move, each) for each in Direction},
            "undo": self.undo,
            "redo": self.redo,
            "new": lambda: self.start(session.start),
            "rules": self.choose_rules,
            "games": lambda: presenter.attempt(self._choose_game),
        }

    def move(self, direction: Direction) -> None:
        """Slide."""
        self._presenter.show(self._session.move(direction))

    def undo(self) -> None:
        """Take the last move back."""
        if not self._presenter.show(self._session.undo()):
            self._screen.say("There is nothing to take back.")

    def redo(self) -> None:
        """Play again a move that was taken back."""
        if not self._presenter.show(self._session.redo()):
            self._screen.say("There is no move to play again.")

    def start(self, action: Callable[[], Iterable[Event]]) -> None:
        """Start a new game by `action`, after asking if one is in progress."""
        self._stop()
        if self._session.in_progress:
            self._ask("Start a new game?", "New game", "Keep this one", action)
        else:
            self._presenter.change(action)

    def replace(self, action: Callable[[], Iterable[Event]]) -> None:
        """Change to another game by `action`; ask first if this one would be lost."""
        self._stop()
        if self._session.keeps_games or not self._session.in_progress:
            self._presenter.change(action)
        else:
            self._ask("Leave this game? It cannot be kept.", "Leave it", "Keep it", action)

    def _ask(self, text: str, yes: str, no: str, action: Callable[[], Iterable[Event]]) -> None:
        self._screen.ask(text, yes, no, lambda: self._presenter.change(action))

    def choose_rules(self) -> None:
        """Choose rules, then continue their game or start one."""
        self._screen.choose(
            ListRequest(
                "Rules",
                [Choice(rules.name, rules.name, describe_rules(rules)) for rules in list_rules()],
                lambda text: self.play_by(Rules.parse(text)),
                current=self._session.rules.name,
                own=RULES_TEXT,
                check=lambda text: fault_of(lambda: Rules.parse(text)),
                more=self.more_rules,
            )
        )

    def play_by(self, rules: Rules) -> None:
        """Continue the last game under `rules`, or start one."""
        self._stop()
        self._presenter.remember("rules", str(rules))
        if rules == self._session.rules:
            self.start(self._session.start)
        else:
            self.replace(lambda: self._session.switch_rules(rules))

    def play_from(self, board: Board, rules: Rules | None = None) -> None:
        """Start a game from a position, which counts as assisted."""
        chosen = rules_for(rules or self._session.rules, board)
        self.start(lambda: self._session.start(chosen, board=board))

    def _choose_game(self) -> None:
        choices = [
            Choice(
                game.id,
                title_of(game.rules),
                f"{counted(game.score, 'point')}, {counted(game.position, 'move')}, "
                f"last played {minute_of(game.updated)}",
            )
            for game in self._session.saved_games()
            if game.position or game.undos
        ]
        if choices:
            self._screen.choose(ListRequest("Games in progress", choices, self._resume))
        else:
            self._screen.say("There are no games in progress.")

    def _resume(self, game_id: str) -> None:
        """Resume a game as it is now: another window may have continued or finished it."""

        def resume() -> None:
            if not self._presenter.show(self._session.resume_game(game_id)):
                self._screen.say("This game is no longer in progress.")

        self._presenter.attempt(resume)

    def paste(self, text: str) -> None:
        """Play from a copied board, or open a copied game."""

        def open_text() -> None:
            try:
                board = Board.parse(text)
            except BoardError as error:
                self.open_pasted(pasted_record(text, error))
            else:
                self.play_from(board)

        self._presenter.attempt(open_text)


class RecordCommands:
    """Games in files, and finished ones.

    Args:
        presenter: shows what happens.
        game: continues a game.
    """

    def __init__(self, presenter: Presenter, game: GameCommands) -> None:
        self._presenter, self._game = presenter, game
        self._session, self._screen = presenter.session, presenter.screen
        self.commands: Commands = {"open": self.open, "save": self.save}

    @property
    def file_name(self) -> str:
        """A name for a file of this game, without its ending."""
        return f"{self._session.rules.name}-{self._session.game.score}"

    def save(self) -> None:
        """Ask for a file and save the game as a record in it."""

        def save(path: Path) -> None:
            if self._presenter.attempt(lambda: self._session.save_record(path)):
                self._screen.say(f"Saved as {path}.")

        self._screen.ask_to_save("Save this game as", RECORDS, self.file_name, save)

    def replace_file(self, path: Path, action: Callable[[], object]) -> None:
        """Write a file by `action`, after asking if one is there."""
        attempt = self._presenter.attempt

        def write() -> None:
            if is_written(path):
                text = f"Replace {path}?"
                self._screen.ask(text, "Replace", "Keep it", lambda: attempt(action))
            else:
                action()

        attempt(write)

    def open(self) -> None:
        """Ask for a record and continue its game."""

        def load(path: Path) -> None:
            self._game.replace(lambda: self._session.start_from(load_record_file(path)))

        self._screen.ask_to_open("Continue the game of the record", RECORDS, load)

    def choose(
        self,
        title: str,
        use: Callable[[Record], object],
        use_file: Callable[[Record], object] | None = None,
    ) -> None:
        """Choose a game, the current one, a finished one or one in a file.

        Args:
            title: what is asked.
            use: takes the game, and may fail.
            use_file: takes one of a file instead.
        """
        session, attempt = self._session, self._presenter.attempt
        choices = [Choice(CURRENT, "This game", counted(session.game.score, "point"))]

        def add_finished() -> None:
            choices.extend(
                Choice(
                    game.id,
                    title_of(game.rules),
                    f"{counted(game.score, 'point')}, {game.max_tile} reached, "
                    f"{minute_of(game.finished)}",
                )
                for game in session.finished(limit=200)
            )

        def take(game: str) -> None:
            load = session.record if game == CURRENT else partial(session.finished_record, game)
            attempt(lambda: use(load()))

        def take_file(path: Path) -> None:
            attempt(lambda: (use_file or use)(load_record_file(path)))

        ask = partial(self._screen.ask_to_open, title, RECORDS, take_file)
        attempt(add_finished)
        self._screen.choose(ListRequest(title, choices, take, more=(("From a file …", ask),)))


class ReviewCommands:
    """What each move of a game was worth.

    Args:
        presenter: shows what happens.
        game: plays on from a position.
        records: the games to choose from.
    """

    def __init__(self, presenter: Presenter, game: GameCommands, records: RecordCommands) -> None:
        self._presenter, self._game, self._records = presenter, game, records
        self._session, self._screen = presenter.session, presenter.screen
        self._worker: BackgroundWorker | None = None
        self.commands: Commands = {"review": self.choose}

    @property
    def is_waiting(self) -> bool:
        """Whether moves are being judged."""
        return self._worker is not None and self._worker.is_busy

    def close(self) -> None:
        """Judge no more."""
        if self._worker is not None:
            self._worker.close()

    def choose(self) -> None:
        """Review the game if it is over; else choose one."""
        own = partial(self.open, is_own=True)
        if self._session.game.is_over and self._session.game.ply:
            self._presenter.attempt(lambda: own(self._session.record()))
        else:
            self._records.choose("Review a game", own, self.open)

    def open(self, record: Record, *, is_own: bool = False) -> None:
        """Review a game; a look at the moves of the game in progress counts as a hint.

        Args:
            record: the game.
            is_own: whether the player has played it: the mistakes of a finished game are then put
                into the notebook when all is judged.

        Raises:
            RecordError: if the record breaks its own rules, or has no move.
        """
        review, screen = GameReview(record), self._screen
        self.close()
        if not self._session.game.is_over and record == self._session.record():
            self._session.count_help()
            self._presenter.show_status()
            is_own = False
        is_kept = not is_own

        def refresh() -> None:
            nonlocal is_kept
            if review.review is not None and not is_kept:
                is_kept = True
                self._presenter.attempt(partial(self._keep_mistakes, review))
            screen.refresh_review()

        self._worker = BackgroundWorker(screen)
        review.start(self._worker, refresh)
        screen.show_review(review, lambda: self._game.play_from(review.board, record.rules))

    def _keep_mistakes(self, review: GameReview) -> None:
        assert review.review is not None  # the caller has looked
        review.note = keep_mistakes(self._session, review.review)


class PracticeCommands:
    """Mistakes, puzzles and endings to practise.

    Args:
        presenter: shows what happens.
    """

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter
        self._session, self._screen = presenter.session, presenter.screen
        self._worker = BackgroundWorker(self._screen)
        self.commands: Commands = {"practice": lambda: presenter.attempt(self._choose)}

    @property
    def is_waiting(self) -> bool:
        """Whether something is being prepared."""
        return self._worker.is_busy

    def close(self) -> None:
        """Prepare no more."""
        self._worker.close()

    def _choose(self) -> None:
        from py2048.ui.shared.practice import list_offers  # it loads the store

        self._screen.choose(ListRequest("Practise", list_offers(self._session), self._prepare))

    def _prepare(self, choice: str) -> None:
        """Begin what was chosen, in the background: an ending takes some time to deal."""

        def prepare() -> Iterator[Drill]:
            from py2048.ui.shared.practice import drill_of

            yield drill_of(self._session, choice)

        self._screen.say("Preparing practice …")
        self._worker.ask(prepare, self._take)

    def _take(self, answer: Drill | Failure) -> None:
        from py2048.ui.shared.practice import Drill, PracticeRun

        def begin(drill: Drill) -> None:
            run = PracticeRun(drill)
            attempt = self._presenter.attempt
            self._screen.show_practice(run, lambda name: attempt(lambda: run.go(name)))

        match answer:
            case Failure(reason):
                self._screen.warn(reason)
            case Drill():
                self._screen.say("")
                self._presenter.attempt(partial(begin, answer))


def is_written(path: Path) -> bool:
    """Return whether a file is there.

    Raises:
        RecordError: if no file can have this name.
    """
    with os_errors_as(RecordError, f"cannot write {path}"):
        return path.is_file()


def pasted_record(text: str, no_board: BoardError) -> Record:
    """Return the one game in a copied text that is not a board.

    Raises:
        RecordError: if there are several games, or one is damaged.
        BoardError: if nothing in it looks like a game.
    """
    try:
        records = parse_records(text)
    except NoGameError:
        raise BoardError(f"this is neither a board nor a game: {no_board}") from None
    if len(records) > 1:
        raise RecordError(f"these are {len(records)} games: copy one of them")
    return records[0]


def rules_for(rules: Rules, board: Board) -> Rules:
    """Return `rules` for a board of this size."""
    rows, columns = board.shape
    if rules.shape == board.shape:
        return rules
    low, high = (min(tiles, rows * columns) for tiles in (rules.start.low, rules.start.high))
    start = RandomStart(low, high, rules.start.weights)
    return replace(rules, rows=rows, columns=columns, start=start)


def title_of(rules: str) -> str:
    """Return the name in a text of rules, and the size unless the name says it.

    >>> title_of("classic:size=5x5,start=2"), title_of("2x4:size=2x4,start=2")
    ('classic 5x5', '2x4')
    """
    name, _, rest = rules.partition(":")
    size = rest.partition(",")[0].removeprefix("size=")
    return name if name == size else f"{name} {size}"


def minute_of(moment: str) -> str:
    """Return the date and the minute of a time in ISO 8601."""
    return moment[:16].replace("T", " ")
