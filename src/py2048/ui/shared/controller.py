"""`Controller`, for actions, and `Presenter`, for events: what terminal and window share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial, singledispatchmethod
from pathlib import Path
from typing import TYPE_CHECKING

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import BoardError, Py2048Error, RecordError, StorageError, os_errors_as
from py2048.game import Record
from py2048.game.importing import NoGameError, load_record_file, parse_records
from py2048.players import list_players
from py2048.rules import RandomStart, Rules, get_rules, list_rules
from py2048.session import Event, Session, events, hint_player
from py2048.ui.shared import motion
from py2048.ui.shared.background import (
    PURPOSE,
    SPEEDS,
    START_SPEED,
    Autoplay,
    BackgroundWorker,
    WorkResult,
)
from py2048.ui.shared.coach import COACHING, Coach
from py2048.ui.shared.coach import SETTING as COACH_SETTING
from py2048.ui.shared.describe import describe, describe_rules
from py2048.ui.shared.review import REVIEWING, GameReview, keep_mistakes
from py2048.ui.shared.screen import RECORDS, Banner, Choice, GameScreen, ListRequest, Status
from py2048.ui.shared.themes import Theme, get_theme, next_theme
from py2048.ui.shared.words import counted

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.review import Review
    from py2048.ui.shared.drills import Drill

PACES = {"slow": 2.0, "normal": 1.0, "fast": 0.5}
"""How many times longer than in the original an animation takes, by the name of its speed."""

LEAST_PACE = 0.2
"""A fast autoplay shortens animations; below this share of their time they are left out."""

HELP = {"assisted": "assisted", "computer": "by a player"}
"""The words for a game's category; none for a plain one."""

OVER = "The game is over: n starts a new one, u takes the last move back."

HINT, PRACTISING = "hint", "practice"
SAVING_PERIOD = 0.25
"""Seconds between looks whether all is saved, while it is not."""

RULES_TEXT = "or rules as a text, such as classic:size=5x5"
PLAYER_TEXT = "or a player with options, such as expectimax:depth=3"

CURRENT = "current"
"""Stands for the current game in a list of records: the store has no name for it."""

KEEPS_PLAYING = {
    "autoplay", "faster", "slower", "coach", "theme", "animation", "full_screen", "copy",
}  # fmt: skip
"""The actions that do not stop autoplay."""


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
        commands: the method for each name in `py2048.ui.shared.actions`; a front end adds those
            that only it has.
        more_rules: further buttons of the list of rules.
        open_pasted: opens a game that was pasted; by default it is continued.
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
        self._wanted_player = player
        self._is_checking = False
        self._worker = BackgroundWorker(screen.receive)
        self.autoplay = Autoplay(session, self._worker, screen.later, self._autoplay_changed)
        speed = session.get_setting("autoplay_speed", START_SPEED)
        self.autoplay.speed = speed if speed in SPEEDS else START_SPEED
        self.presenter = Presenter(session, screen, self.autoplay, text_of)
        self.coach = Coach(session, screen)
        self._review: GameReview | None = None
        self._keeps = False
        self._dealer: BackgroundWorker | None = None
        animated = session.get_setting("animation", True) is not False
        self.presenter.is_animated = animated and not reduced_motion
        self.open_pasted: Callable[[Record], object] = lambda record: self.replace_game(
            lambda: session.start_from(record)
        )
        self.more_rules: tuple[tuple[str, Callable[[], object]], ...] = ()
        self._unsubscribe: Callable[[], None] = lambda: None
        self.commands: dict[str, Callable[[], object]] = {
            "new": lambda: self.start_new(self.session.start),
            "rules": self.choose_rules,
            "games": self.choose_game,
            "open": self.open_record,
            "save": self.save_record,
            "review": self.choose_review,
            "practice": self.choose_practice,
            "quit": self.quit,
            **{str(each): partial(self.move, each) for each in Direction},
            "undo": self.undo,
            "redo": self.redo,
            "hint": self.hint,
            "autoplay": self.toggle_autoplay,
            "faster": lambda: self.change_speed(1),
            "slower": lambda: self.change_speed(-1),
            "player": self.choose_player,
            "coach": self.toggle_coach,
            "theme": lambda: self.set_theme(next_theme(self.theme.name).name),
            "animation": self.toggle_animation,
            "help": self.screen.show_help,
        }

    # Beginning and ending

    def begin(self, start: Callable[[Session], object] | None = None) -> None:
        """Show the session's game; if there is none yet, `start` or resume one."""
        self._unsubscribe = self.session.subscribe(self._listen)
        if self.session.get_setting(COACH_SETTING, False) is True:
            self.coach.start()
        if self.session.version == 0:
            try:
                (start or self._resume)(self.session)
            except StorageError as error:
                self.screen.warn(str(error))
                self.session.start(self._remembered_rules())
        else:
            for event in current_events(self.session):
                self._listen(event)
        if self.session.unsaved:
            self._listen(events.SavingChanged(self.session.unsaved))

    def _resume(self, session: Session) -> None:
        if not session.resume():
            session.start(self._remembered_rules())

    def close(self) -> None:
        """Leave the session to others."""
        self.autoplay.stop()
        self._worker.close()
        self.coach.close()
        self._stop_dealing()
        if self._review is not None:
            self._review.close()
        self._unsubscribe()

    def quit(self) -> None:
        """Quit, after asking if something cannot be saved."""
        if reason := self.session.settle():
            text = f"Not saved: {reason}. Quit all the same?"
            self.screen.ask(text, "Quit", "Stay", self.screen.quit)
        else:
            self.screen.quit()

    def do(self, name: str) -> None:
        """Do the action called `name`; most end autoplay."""
        if name not in KEEPS_PLAYING:
            self.autoplay.stop()
        self.commands[name]()

    def attempt(self, action: Callable[[], object]) -> bool:
        """Do something that may fail; show why if it does. Return whether it worked."""
        try:
            action()
        except (Py2048Error, OSError) as error:
            self.screen.warn(str(error))
            return False
        return True

    def _listen(self, event: Event) -> None:
        self.presenter.show(event)
        self.coach.follow(event)
        if isinstance(event, events.SavingChanged):
            self._check_saving()

    def _check_saving(self) -> None:
        """Look again and again while something is not saved."""
        self.session.check_saving()
        if self.session.unsaved and not self._is_checking:
            self._is_checking = True
            self.screen.later(SAVING_PERIOD, self._check_again)

    def _check_again(self) -> None:
        self._is_checking = False
        self._check_saving()

    # Moves

    def move(self, direction: Direction) -> None:
        """Slide; a person's move ends autoplay."""
        self.autoplay.stop()
        self.session.move(direction)

    def undo(self) -> None:
        """Take the last move back."""
        if not self.session.undo():
            self.screen.say("There is nothing to take back.")

    def redo(self) -> None:
        """Play again a move that was taken back."""
        if not self.session.redo():
            self.screen.say("There is no move to play again.")

    # Games

    def start_new(self, action: Callable[[], object]) -> None:
        """Start a new game by `action`, after asking if one is in progress."""
        self.autoplay.stop()
        if self.session.in_progress:
            self.ask("Start a new game?", "New game", "Keep this one", action)
        else:
            self.attempt(action)

    def ask(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        """Ask before doing something that may fail."""
        self.screen.ask(text, yes, no, lambda: self.attempt(action))

    def replace_game(self, action: Callable[[], object]) -> None:
        """Change to another game by `action`; ask first if this one would be lost."""
        self.autoplay.stop()
        if self.session.keeps_games or not self.session.in_progress:
            self.attempt(action)
        else:
            self.ask("Leave this game? It cannot be kept.", "Leave it", "Keep it", action)

    def choose_rules(self) -> None:
        """Choose rules, then continue their game or start one."""
        choices = [Choice(rules.name, rules.name, describe_rules(rules)) for rules in list_rules()]
        self.screen.choose(
            ListRequest(
                "Rules",
                choices,
                lambda text: self.play_by(Rules.parse(text)),
                current=self.session.rules.name,
                own=RULES_TEXT,
                check=lambda text: fault_of(lambda: Rules.parse(text)),
                more=self.more_rules,
            )
        )

    def play_by(self, rules: Rules) -> None:
        """Continue the last game under `rules`, or start one."""
        self.autoplay.stop()
        self.session.set_setting("rules", str(rules))
        if rules == self.session.rules:
            self.start_new(self.session.start)
        else:
            self.replace_game(lambda: self.session.switch_rules(rules))

    def choose_game(self) -> None:
        """Resume another game in progress."""
        self.attempt(self._choose_game)

    def _choose_game(self) -> None:
        choices = [
            Choice(
                game.id,
                title_of(game.rules),
                f"{counted(game.score, 'point')}, {counted(game.position, 'move')}, "
                f"last played {minute_of(game.updated)}",
            )
            for game in self.session.saved_games()
            if game.position or game.undos
        ]
        if choices:
            request = ListRequest(
                "Games in progress",
                choices,
                lambda id_: self.attempt(partial(self._resume_game, id_)),
            )
            self.screen.choose(request)
        else:
            self.screen.say("There are no games in progress.")

    def _resume_game(self, game_id: str) -> None:
        """Resume a game as it is now: another window may have continued or finished it."""
        if not self.session.resume_game(game_id):
            self.screen.say("This game is no longer in progress.")

    def _remembered_rules(self) -> Rules:
        try:
            return Rules.parse(str(self.session.get_setting("rules", "classic")))
        except Py2048Error:
            return get_rules("classic")

    # Records

    def save_record(self) -> None:
        """Ask for a file and save the game as a record in it."""

        def save(path: Path) -> None:
            if self.attempt(lambda: self.session.save_record(path)):
                self.screen.say(f"Saved as {path}.")

        self.screen.ask_to_save("Save this game as", RECORDS, self.file_name, save)

    def replace_file(self, path: Path, action: Callable[[], object]) -> None:
        """Write a file by `action`, after asking if one is there."""
        self.attempt(
            lambda: (
                self.ask(f"Replace {path}?", "Replace", "Keep it", action)
                if is_written(path)
                else action()
            )
        )

    @property
    def file_name(self) -> str:
        """A name for a file of this game, without its ending."""
        game = self.session.game
        return f"{game.rules.name}-{game.score}"

    def open_record(self) -> None:
        """Ask for a record and continue its game."""

        def load(path: Path) -> None:
            self.replace_game(lambda: self.session.start_from(load_record_file(path)))

        self.screen.ask_to_open("Continue the game of the record", RECORDS, load)

    def choose_record(
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
        session = self.session
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
            self.attempt(lambda: use(load()))

        def take_file(path: Path) -> None:
            self.attempt(lambda: (use_file or use)(load_record_file(path)))

        ask = partial(self.screen.ask_to_open, title, RECORDS, take_file)
        self.attempt(add_finished)
        self.screen.choose(ListRequest(title, choices, take, more=(("From a file …", ask),)))

    # Reviews

    def choose_review(self) -> None:
        """Review the game if it is over; else choose one."""
        if self.session.game.is_over and self.session.game.ply:
            self.attempt(lambda: self._review_own(self.session.record()))
        else:
            self.choose_record("Review a game", self._review_own, self.review)

    def _review_own(self, record: Record) -> None:
        """Review a game of the player's, whose mistakes are kept once it is finished."""
        self.review(record, keep=True)

    def review(self, record: Record, *, keep: bool = False) -> None:
        """Review a game; a look at the moves of the game in progress counts as a hint.

        Args:
            record: the game.
            keep: put the mistakes of a finished game into the notebook when all is judged.

        Raises:
            RecordError: if the record breaks its own rules, or has no move.
        """
        review = GameReview(record)
        if self._review is not None:
            self._review.close()
        if not self.session.game.is_over and record == self.session.record():
            self.session.count_help()
            self.presenter.show_status()
            keep = False
        self._review, self._keeps = review, keep
        review.start(self.screen.receive)
        self.screen.show_review(review, lambda: self.play_from(review.board, record.rules))
        self.screen.await_results()

    # Practice

    def choose_practice(self) -> None:
        """Choose what to practise: mistakes, puzzles or an ending."""

        def choose() -> None:
            from py2048.ui.shared.drills import list_offers  # it loads the store

            choices = [Choice(*offer) for offer in list_offers(self.session)]
            self.screen.choose(ListRequest("Practise", choices, self.practise))

        self.attempt(choose)

    def practise(self, choice: str) -> None:
        """Begin what was chosen, in the background: an ending takes some time to deal."""

        def begin() -> Iterator[Drill]:
            from py2048.ui.shared.drills import drill_of

            yield drill_of(self.session, choice)

        self._stop_dealing()
        self.screen.say("Preparing practice …")
        self._dealer = BackgroundWorker(self.screen.receive)
        self._dealer.ask(PRACTISING, begin)
        self.screen.await_results()

    def _stop_dealing(self) -> None:
        if self._dealer is not None:
            self._dealer.close()
        self._dealer = None

    def _take_drill(self, result: WorkResult) -> None:
        self._stop_dealing()
        if result.drill is None:
            self.screen.warn(result.error)
            return
        self.screen.say("")
        self.attempt(partial(self._show_practice, result.drill))

    def _show_practice(self, drill: Drill) -> None:
        from py2048.ui.shared.practice import PracticeRun

        run = PracticeRun(drill)
        self.screen.show_practice(run, lambda name: self.attempt(lambda: run.go(name)))

    # The coach

    def toggle_coach(self) -> None:
        """Judge moves while they are played, or no longer."""
        is_on = not self.coach.is_on
        self.session.set_setting(COACH_SETTING, is_on)
        if is_on:
            self.coach.start()
            self.screen.say("The coach judges your moves; the game counts as assisted.")
        else:
            self.coach.stop()
            self.screen.say("The coach is off.")

    def paste(self, text: str) -> None:
        """Play from a copied board, or continue a copied game."""
        self.attempt(lambda: self._paste(text))

    def _paste(self, text: str) -> None:
        try:
            board = Board.parse(text)
        except BoardError as error:
            record = pasted_record(text, error)
            self.open_pasted(record)
        else:
            self.play_from(board)

    def play_from(self, board: Board, rules: Rules | None = None) -> None:
        """Start a game from a position, which counts as assisted."""
        chosen = rules_for(rules or self.session.rules, board)
        self.start_new(lambda: self.session.start(chosen, board=board))

    # Players

    @property
    def player(self) -> str:
        """The spec of the player that gives hints and plays by itself."""
        usual = hint_player(self.session.rules, self.session.game.board)
        return self._wanted_player or str(self.session.get_setting("player", usual))

    def choose_player(self) -> None:
        """Choose who gives hints and plays by itself."""
        self.screen.choose(
            ListRequest(
                "Player for hints and autoplay",
                [Choice(name, name) for name in list_players()],
                self.set_player,
                current=self.player.partition(":")[0],
                own=PLAYER_TEXT,
                check=lambda text: fault_of(lambda: self.session.get_player(text)),
            )
        )

    def set_player(self, spec: str) -> None:
        """Let another player give hints and play."""
        is_on = self.autoplay.is_on
        self.autoplay.stop()
        self._wanted_player = None
        self.session.set_setting("player", spec)
        self.screen.say(f"Hints and autoplay by {spec}.")
        self.presenter.show_status()
        if is_on:
            self.autoplay.start(spec)

    def hint(self) -> None:
        """Ask the player what to do, in the background."""
        if self.session.game.is_over:
            self.screen.say("The game is over: there is no move to hint at.")
            return
        self.screen.cover(None, is_animated=False)
        session, player, snapshot = self.session, self.player, self.session.snapshot()
        self.presenter.thinking = player
        self.presenter.show_status()
        self.screen.await_results()
        self._worker.ask(HINT, lambda: session.advise(snapshot, player))

    def toggle_autoplay(self) -> None:
        """Let the player play, or stop it."""
        if self.autoplay.is_on:
            self.autoplay.stop()
        elif self.session.game.is_over:
            self.screen.say("The game is over: there is nothing to play.")
        else:
            self.screen.cover(None, is_animated=False)
            self.autoplay.start(self.player)

    def change_speed(self, step: int) -> None:
        """Go to the next speed of autoplay up (1) or down (-1), where there is one."""
        self.set_speed(SPEEDS.index(self.autoplay.speed) + step)

    def set_speed(self, index: int) -> None:
        """Play at ``SPEEDS[index]``, or at the slowest or fastest speed beyond its ends."""
        speed = SPEEDS[min(max(index, 0), len(SPEEDS) - 1)]
        if speed != self.autoplay.speed:
            self.autoplay.speed = speed
            self.session.set_setting("autoplay_speed", speed)
            self.presenter.show_status()
            text = "as fast as it can" if speed == SPEEDS[-1] else f"{speed} moves a second"
            self.screen.say(f"Autoplay: {text}.")

    def _autoplay_changed(self) -> None:
        self._forget_hint()
        self.coach.pause(is_paused=self.autoplay.is_on)
        if self.autoplay.is_on:
            self.screen.await_results()

    @property
    def is_waiting(self) -> bool:
        """Whether a player or a judge is asked for something."""
        is_reviewing = self._review is not None and self._review.is_running
        is_asked = bool(self.presenter.thinking) or self.autoplay.is_on
        return is_asked or is_reviewing or self.coach.is_busy or self._dealer is not None

    def take_result(self, result: WorkResult) -> None:
        """Use a result of a background worker, unless the game has moved on."""
        if result.purpose.startswith(REVIEWING):
            self._take_review(result)
        elif result.purpose == PRACTISING:
            self._take_drill(result)
        elif result.purpose == COACHING:
            self._take_judgement(result)
        elif result.error:
            self.autoplay.stop()
            self._forget_hint()
            self.screen.warn(result.error)
        elif result.purpose == PURPOSE:
            self.autoplay.take(result)
        else:
            self._take_hint(result)

    def _take_review(self, result: WorkResult) -> None:
        if self._review is not None:
            self._review.take(result)
            if result.review and result.review is self._review.review and self._keeps:
                self.attempt(partial(self._keep_mistakes, self._review, result.review))
            self.screen.refresh_review()

    def _keep_mistakes(self, shown: GameReview, review: Review) -> None:
        self._keeps = False
        shown.note = keep_mistakes(self.session, review)

    def _take_judgement(self, result: WorkResult) -> None:
        if result.error:
            self.coach.stop()
            self.screen.warn(f"the coach cannot judge this game: {result.error}")
            return
        category = self.session.category
        self.coach.take(result)
        if self.session.category != category:
            self.presenter.show_status()

    def _take_hint(self, result: WorkResult) -> None:
        was_compiling = self.presenter.compiling is not None
        if result.is_last:
            self._forget_hint()
        else:
            self.presenter.compiling = result.compiling
            self.presenter.show_status()
        if result.hint and not self.session.show_hint(result.hint) and was_compiling:
            self.screen.say(f"{result.hint.player} is ready: it gives hints from now on.")

    def _forget_hint(self) -> None:
        self.presenter.thinking, self.presenter.compiling = "", None
        self.presenter.show_status()

    # Looks

    def set_theme(self, name: str) -> None:
        """Change the colours."""
        self.theme = get_theme(name)
        self.screen.set_theme(self.theme)
        self.session.set_setting("theme", name)
        self.screen.say(f"Theme: {self.theme.title}.")
        self.presenter.show_status()

    def set_animation_speed(self, name: str) -> None:
        """Animate at another speed, a key of `PACES`."""
        self.presenter.speed = name
        self.session.set_setting("animation_speed", name)
        self.screen.say(f"Animation speed: {name}.")
        self.presenter.show_status()

    def remember_animation_speed(self) -> None:
        """Animate at the speed chosen last."""
        name = str(self.session.get_setting("animation_speed", "normal"))
        self.presenter.speed = name if name in PACES else "normal"

    def toggle_animation(self) -> None:
        """Switch the animation off or on."""
        is_animated = self.presenter.is_animated = not self.presenter.is_animated
        self.screen.finish_motion()
        self.session.set_setting("animation", is_animated)
        self.screen.say(f"Animation {'on' if is_animated else 'off'}.")
        self.presenter.show_status()


def fault_of(action: Callable[[], object]) -> str:
    """Return why `action` fails, or an empty text if it does not."""
    try:
        action()
    except Py2048Error as error:
        return str(error)
    return ""


def is_written(path: Path) -> bool:
    """Return whether a file is there.

    Raises:
        RecordError: if no file can have this name.
    """
    with os_errors_as(RecordError, f"cannot write {path}"):
        return path.is_file()


def pasted_record(text: str, no_board: BoardError) -> Record:
    """Return the one game in a copied text that is no board.

    Raises:
        RecordError: if there are several games, or one is damaged.
        BoardError: if nothing in it looks like a game.
    """
    try:
        records = parse_records(text)
    except NoGameError:
        raise BoardError(f"this is no board and no game: {no_board}") from None
    if len(records) > 1:
        raise RecordError(f"these are {len(records)} games: copy one of them")
    return records[0]


def rules_for(rules: Rules, board: Board) -> Rules:
    """Return `rules` for a board of this size."""
    rows, columns = board.shape
    if rules.shape == board.shape:
        return rules
    most = rows * columns
    start = RandomStart(
        min(rules.start.low, most), min(rules.start.high, most), rules.start.weights
    )
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


def current_events(session: Session) -> list[Event]:
    """Return the events that introduce the session's game to a screen that opens on it."""
    game, best = session.game, session.best
    started = events.GameStarted(game.board, game.score, best, resumed=game.ply > 0)
    return [started, session.game_over] if game.is_over else [started]


class Presenter:
    """Shows on a screen what happens in a session.

    Args:
        session: the session.
        screen: the screen.
        autoplay: hurries the animations while it is on.
        text_of: returns the message for an event, in as many words as the screen has room for.

    Attributes:
        is_animated: whether tiles slide or jump.
        speed: a key of `PACES`.
        thinking: who is asked for a hint now, or an empty text.
        compiling: the compiler's progress with that player.
    """

    def __init__(
        self,
        session: Session,
        screen: GameScreen,
        autoplay: Autoplay,
        text_of: Callable[[Event], str] = describe,
    ) -> None:
        self._session = session
        self._screen = screen
        self._autoplay = autoplay
        self._text_of = text_of
        self.is_animated = True
        self.speed = "normal"
        self.thinking = ""
        self.compiling: Compiling | None = None

    @singledispatchmethod
    def show(self, event: object) -> None:
        """Show an event. A running animation jumps to its end."""
        raise TypeError(f"{event!r} is no event of a session")

    @show.register
    def _(self, event: events.GameStarted) -> None:
        self._show_position(event, motion.appearing(event.board))

    @show.register
    def _(self, event: events.Moved) -> None:
        self._show_position(event, motion.of_move(event))
        self._screen.show_gain(event.points, is_animated=self.is_animated)

    @show.register
    def _(self, event: events.Undone) -> None:
        self._show_position(event, motion.of_undo(event))

    @show.register
    def _(self, event: events.IllegalMove) -> None:
        if self._session.game.is_over:
            self._screen.say(OVER)
            return
        self._screen.say(self._text_of(event))
        self.show_status()
        self._screen.show_gain(event.penalty, is_animated=self.is_animated)

    @show.register
    def _(self, event: events.Won) -> None:
        self._screen.say(self._text_of(event))
        if event.plays_on and not event.by_computer:
            banner = Banner(f"You made {event.tile}!", ("Any move continues.",), False)
            self._screen.cover(banner, is_animated=self.is_animated)

    @show.register
    def _(self, event: events.GameOver) -> None:
        self._autoplay.stop()
        self._screen.say(self._text_of(event))
        has_won = self._session.game.has_won and not event.by_computer
        title = "You win!" if has_won else "Game over!"
        best = "A new best!" if event.is_best else f"Best {event.best:,}" if event.best else ""
        banner = Banner(title, tuple(filter(None, (f"Score {event.score:,}", best))), True)
        self._screen.cover(banner, is_animated=self.is_animated)

    @show.register
    def _(self, event: events.Hinted) -> None:
        self._screen.show_hint(event.hint)
        self._screen.say(self._text_of(event))

    @show.register
    def _(self, event: events.StorageFailed) -> None:
        self._screen.warn(event.message)

    @show.register
    def _(self, event: events.SavingChanged) -> None:
        self._screen.show_unsaved(event.unsaved)

    def show_status(self) -> None:
        """Show the scores and who thinks or plays."""
        session = self._session
        note = str(self._autoplay)
        if self.thinking:
            progress = f": {self.compiling}" if self.compiling else " is thinking …"
            note = f"{self.thinking}{progress}"
        self._screen.show_status(
            Status(
                session.game.rules.name,
                session.game.score,
                session.best,
                session.game.ply,
                HELP.get(session.category, ""),
                note,
                session.can_undo,
                session.can_redo,
            )
        )

    def _show_position(self, event: Event, transition: motion.BoardTransition) -> None:
        """Show a new position without what belonged to the one before."""
        self._screen.cover(None, is_animated=False)
        self._screen.say(self._text_of(event))
        self._screen.show_board(transition, self._pace(transition))
        self.show_status()

    def _pace(self, transition: motion.BoardTransition) -> float:
        if not self.is_animated or not transition.seconds:
            return 0.0
        pace = PACES[self.speed]
        if self._autoplay.is_on:
            share = self._autoplay.interval / transition.seconds
            pace = min(pace, share) if share >= LEAST_PACE else 0.0
        return pace
