"""The screen controller, shared by the terminal and the desktop window.

A front end implements `GameScreen`, and the `Presenter` shows the session's events on it. The
handlers are grouped into classes for games, players and reviews. All actions are listed in
`py2048.presentation.actions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TypedDict, assert_never

from py2048.app.controller.background import BackgroundWorker, Failure
from py2048.app.controller.coach import COACH_SETTING, Coach, CoachScreen
from py2048.app.controller.review import GameReview, keep_mistakes
from py2048.app.session import Hint, Session, advise
from py2048.app.session.levels import LEVEL_SETTING, ME
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, Py2048Error, RecordError, StorageError, os_errors_as
from py2048.core.game import Record
from py2048.core.game.importing import NoGameError, load_record_file, parse_records
from py2048.core.language import LANGUAGES, N_, _, language, ngettext, set_language
from py2048.core.rules import COURSE_PRESETS, RandomStart, Rules, get_rules, list_boards
from py2048.presentation import events, motion
from py2048.presentation.describe import describe_rules
from py2048.presentation.events import Event
from py2048.presentation.hints import PLAYERS, TEACHING_MOVES, player_name, teaching
from py2048.presentation.result import Result, Statistic, race_rows, result_of, time_text
from py2048.presentation.screen import (
    RECORDS,
    Choice,
    FileKind,
    ListRequest,
    Status,
    moves,
    points,
    preparing,
    title_of,
)
from py2048.presentation.themes import Theme, get_theme, next_theme
from py2048.presentation.words import level_name
from py2048.review import Review
from py2048.review.levels import LEVELS, PERFECT

if TYPE_CHECKING:
    from py2048.app.controller.practice import Drill, PracticeRun
    from py2048.engine.jit.progress import Compiling
    from py2048.review.reasons import ReasonKind


CURRENT_GAME = "current"  # Placeholder ID of the current game, which has no record yet.

AUTOPLAY_SAFE_ACTIONS = frozenset(
    {"autoplay", "faster", "slower", "coach", "milestones"}
    | {"theme", "animation", "full_screen", "copy"}
)
"""Actions that do not stop autoplay."""

SPEEDS = (1, 2, 4, 8, 16, 32, 1000)
"""Autoplay speeds in moves per second. The last value means full speed."""

START_SPEED = 4

MIN_PACE = 0.2  # Minimum fraction of the normal duration. Faster animations are skipped.

SAVING_POLL_S = 0.25

CATEGORY_LABELS = {"assisted": N_("assisted"), "computer": N_("played by the computer")}

Start = Callable[[Session], Iterable[Event]]


class ScreenOptions(TypedDict, total=False):
    """Options for opening a game on a screen.

    Attributes:
        theme: Name of a theme. Defaults to the theme that was used last.
        reduced_motion: Whether to show moves without animation. Defaults to the saved setting.
        player: Spec of a player that plays from the start and gives hints. By default, autoplay is
            off, and hints come from the most recently chosen player.
        begin: Function that starts a game if the session has none. By default, the last unfinished
            game is resumed, or a new game is started if all games are finished.
    """

    theme: str | None
    reduced_motion: bool
    player: str | None
    begin: Start | None


Commands = Mapping[str, Callable[[], object]]
"""Maps action names to handlers; see `py2048.presentation.actions`."""


class GameScreen(CoachScreen, Protocol):
    """The methods that a `ScreenController` calls on a front end."""

    def show_board(self, transition: motion.BoardTransition, pace: float) -> None:
        """Animate a board transition.

        `pace` scales the animation's duration. A pace of 0 disables the animation.
        """

    def show_status(self, status: Status) -> None:
        """Show the scores and the active settings."""

    def show_gain(self, points: int) -> None:
        """Briefly show the points gained by a move."""

    def show_hint(self, hint: Hint) -> None:
        """Show a hint on the board."""

    def cover(self, result: Result | None) -> None:
        """Show an overlay with the game's result and its review. `None` removes the overlay."""

    def say(self, text: str) -> None:
        """Show a message until the next message replaces it."""

    def show_unsaved(self, reason: str) -> None:
        """Show the reason why changes are not saved. An empty string removes the message."""

    def show_review(self, review: GameReview, leave: Callable[[str], object]) -> None:
        """Open the review screen, which stays open until the player leaves.

        Args:
            review: A review that has not been started yet.
            leave: Called with ``play_on`` or ``practice`` if the player closes the review with this
                action.
        """

    def show_practice(self, run: PracticeRun, answer: Callable[[str], object]) -> None:
        """Open the practice screen, which stays open until the player leaves.

        Args:
            run: The practice run to show.
            answer: Callback that performs one of the `PRACTICE_ACTIONS` on `run`. The screen then
                redraws.
        """

    def set_theme(self, theme: Theme) -> None:
        """Apply a colour theme."""

    def ask(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        """Ask a yes-no question, and run `action` if the answer is yes."""

    def choose(self, request: ListRequest) -> None:
        """Let the player choose from a list."""

    def ask_to_save(
        self, title: str, kind: FileKind, name: str, take: Callable[[Path], object]
    ) -> None:
        """Ask for a file to write, and for confirmation before replacing a file.

        Args:
            title: Title of the dialog.
            kind: File type with its extension.
            name: Default name, without the extension.
            take: Called with the chosen path.
        """

    def ask_to_open(self, title: str, kind: FileKind, take: Callable[[Path], object]) -> None:
        """Ask for a file to read."""

    def share(self) -> None:
        """Share the game's result as text, or the board if there is no result yet."""

    def show_help(self) -> None:
        """Show all keys."""

    def later(self, seconds: float, action: Callable[[], None]) -> object:
        """Call `action` after a number of seconds."""

    def quit(self) -> None:
        """Close the screen."""


class Presenter:
    """Shows a session's events on a screen.

    Args:
        session: The session.
        screen: The screen.
        text_of: Function that returns the message for an event, in a length that suits the screen.

    Attributes:
        is_animated: Whether tiles slide instead of jumping.
        is_racing: Whether the player's times to milestones are shown.
        note: Text about the computer player that is thinking or playing, or an empty string.
        interval_s: Seconds between autoplay moves, or `None` if autoplay is off.
        result: The result that is shown as an overlay, or None.
        follow: Called with each event after it has been shown.
    """

    def __init__(
        self, session: Session, screen: GameScreen, text_of: Callable[[Event], str]
    ) -> None:
        self.session, self.screen, self._text_of = session, screen, text_of
        self._is_unsaved = self._is_polling_saving = False
        self.is_animated = True
        self.is_racing = self._is_ticking = False
        self.note = ""
        self.interval_s: float | None = None
        self.result: Result | None = None
        self.follow: Callable[[Event], object] = lambda _: None

    def attempt(self, action: Callable[[], object]) -> bool:
        """Run an action. If it fails, show the error. Return whether it succeeded."""
        try:
            action()
        except (Py2048Error, OSError) as error:
            self.screen.warn(str(error))
            return False
        return True

    def change(self, action: Callable[[], Iterable[Event]]) -> None:
        """Run an action that changes the game, and show its events or its error."""
        self.attempt(lambda: self.show(action()))

    def remember(self, key: str, value: object) -> None:
        """Save a setting for future sessions."""
        self.session.set_setting(key, value)
        self.show(self.session.check_saving())

    def show(self, happened: Iterable[Event]) -> bool:
        """Show events, and return whether there were any events.

        While changes are unsaved, the saving state is polled.
        """
        happened = tuple(happened)
        for event in happened:
            self._show(event)
            self.follow(event)
        if self._is_unsaved and not self._is_polling_saving:
            self._is_polling_saving = True
            self.screen.later(SAVING_POLL_S, self._poll_saving)
        return bool(happened)

    def _poll_saving(self) -> None:
        self._is_polling_saving = False
        self.show(self.session.check_saving())

    def _show(self, event: Event) -> None:  # noqa: C901 - a branch for each event
        screen = self.screen
        match event:
            case events.GameStarted():
                self._show_board(event, motion.appearing(event.board))
            case events.Moved():
                self._show_board(event, motion.of_move(event))
                screen.show_gain(event.points)
            case events.Undone():
                self._show_board(event, motion.of_undo(event))
            case events.IllegalMove() if self.session.game.is_over:
                screen.say(_("The game is over: n for a new one, u to undo."))
            case events.IllegalMove():
                screen.say(self._text_of(event))
                self.show_status()
                screen.show_gain(event.penalty)
            case events.Won():
                screen.say(self._text_of(event))
                if event.plays_on and not event.by_computer:
                    self.cover(self._result())
            case events.GameOver():
                screen.say(self._text_of(event))
                self.cover(self._result(is_by_computer=event.by_computer))
            case events.Hinted():
                screen.show_hint(event.hint)
                screen.say(self._text_of(event))
            case events.StorageFailed():
                screen.warn(event.message)
            case events.SavingChanged():
                self._is_unsaved = bool(event.unsaved)
                screen.show_unsaved(event.unsaved)
            case _:
                assert_never(event)

    def _show_board(self, event: Event, transition: motion.BoardTransition) -> None:
        """Show a new position, its message and its scores. Remove the hint and the result."""
        self.cover(None)
        self.screen.say(self._text_of(event))
        self.screen.show_board(transition, self._pace(transition))
        self.show_status()

    def cover(self, result: Result | None) -> None:
        """Show or remove the result overlay."""
        self.result = result
        self.screen.cover(result)

    def _result(self, *, is_by_computer: bool = False) -> Result:
        session, game, career = self.session, self.session.game, self.session.career()
        return result_of(
            title_of(game.rules.name, game.rules.shape),
            game.score,
            largest=game.board.max_tile,
            moves=game.ply,
            target=game.rules.target,
            is_final=game.is_over,
            best=session.best_before or None,
            earlier=career.scores,
            today=career.scores_today(datetime.now().astimezone()),
            level=level_name(level) if (level := session.level()) else "",
            is_by_computer=is_by_computer,
            is_continued=session.is_continued,
            race=self.session.race() if self.is_racing else (),
        )

    def show_status(self) -> None:
        """Show the scores, and name the computer player if one is thinking or playing."""
        session, rules, now = self.session, self.session.game.rules, self.session.game.position
        label = CATEGORY_LABELS.get(session.category)
        lesson, race = teaching(rules) if now.ply < TEACHING_MOVES else "", self._race()
        self.screen.show_status(
            Status(
                rules.name, now.score, session.best, now.ply, _(label) if label else "", self.note,
                now.turn_count > 0, 2 * now.max_tile, lesson, race,
            )
        )  # fmt: skip
        if race and session.in_progress and not self._is_ticking:
            self._is_ticking = True
            self.screen.later(1.0, self._tick)

    def _tick(self) -> None:
        self._is_ticking = False
        self.show_status()

    def _race(self) -> tuple[Statistic, ...]:
        """Return the elapsed time and the milestones to display. Computer games have none."""
        session = self.session
        is_shown = self.is_racing and session.category != "computer"
        if not (rows := race_rows(session.race()) if is_shown else []):
            return ()
        return Statistic(_("Time"), time_text(session.elapsed_ms, tenths=False)), *rows

    def _pace(self, transition: motion.BoardTransition) -> float:
        if not self.is_animated or not transition.seconds:
            return 0.0
        if self.interval_s is None:
            return 1.0
        share = self.interval_s / transition.seconds
        return min(1.0, share) if share >= MIN_PACE else 0.0


class ScreenController:
    """Performs a player's actions and shows the results.

    Args:
        session: The session to control.
        screen: The front end.
        theme: Initial colour theme of the screen.
        text_of: Function that returns the message for an event.
        reduced_motion: Whether to disable animation, regardless of the saved setting.
        player: Spec of a player that starts autoplay and gives hints. By default, hints come from
            the last chosen player.

    Attributes:
        presenter: Shows events.
        coach: Judges moves during the game.
        players: Provides hints and autoplay.
        game: Makes moves, and starts, resumes, opens and saves games.
        reviews: Opens game reviews and practice.
        commands: Maps action names to handlers. The front end can add actions.
    """

    def __init__(
        self,
        session: Session,
        screen: GameScreen,
        theme: Theme,
        *,
        text_of: Callable[[Event], str],
        reduced_motion: bool = False,
        player: str | None = None,
    ) -> None:
        self.session, self.screen, self.theme = session, screen, theme
        self._plays_at_once = player is not None
        self.presenter = presenter = Presenter(session, screen, text_of)
        animated = session.get_setting("animation", True) is not False
        presenter.is_animated = animated and not reduced_motion
        presenter.is_racing = session.get_setting("milestones", False) is True
        workers = [BackgroundWorker(screen.later) for _ in range(4)]
        judge, adviser, foreground, background = self._workers = workers
        self.coach = Coach(session, screen, judge, presenter.show_status)
        presenter.follow = self._follow
        self.players = PlayerCommands(presenter, adviser, self.coach, player)
        self.game = GameCommands(presenter, self.players.stop)
        self.reviews = ReviewCommands(presenter, foreground, background, self.game)
        self.commands: dict[str, Callable[[], object]] = {
            **self.game.commands,
            **self.players.commands,
            **self.reviews.commands,
            "coach": self._toggle_coach,
            "level": self._choose_level,
            "language": self._choose_language,
            "theme": lambda: self.set_theme(next_theme(self.theme.name).name),
            "animation": self._toggle_animation,
            "milestones": self._toggle_milestones,
            "share": screen.share,
            "help": screen.show_help,
            "quit": self._quit,
        }

    def begin(self, start: Start | None = None) -> None:
        """Show the session's game (see `opening`), and start autoplay if a player was given."""
        if self.session.get_setting(COACH_SETTING, False) is True:
            self.coach.start()
        self.presenter.show(opening(self.session, start))
        self.presenter.show(self.session.check_saving())
        if reason := self.session.unsaved:
            self.presenter.show([events.SavingChanged(reason)])
        if self._plays_at_once and not self.session.game.is_over:
            self.players.toggle_autoplay()

    def _follow(self, event: Event) -> None:
        if self.coach.is_on:
            self.coach.follow(event)
        self.reviews.follow(event)

    def close(self) -> None:
        """Stop autoplay and all workers. The session stays open."""
        self.players.stop()
        for worker in self._workers:
            worker.cancel()

    @property
    def is_waiting(self) -> bool:
        """Whether results of a player or judge are pending."""
        return any(worker.is_busy for worker in self._workers)

    def do(self, name: str) -> None:
        """Perform an action by name. Most actions stop autoplay."""
        if name not in AUTOPLAY_SAFE_ACTIONS:
            self.players.stop()
        self.commands[name]()

    def _quit(self) -> None:
        """Quit. If changes cannot be saved, ask for confirmation first."""
        if reason := self.session.flush():
            text = _("Not saved: {reason}. Quit anyway?").format(reason=reason)
            self.screen.ask(text, _("Quit"), _("Stay"), self.screen.quit)
        else:
            self.screen.quit()

    def _toggle_coach(self) -> None:
        message = self.coach.toggle()
        self._save_setting(COACH_SETTING, self.coach.is_on, message)

    def _choose_level(self) -> None:
        """Let the player choose the skill level for judging moves."""
        self.screen.choose(level_request(self.session, self._set_level))

    def _set_level(self, text: str) -> None:
        self.session.release_players()
        self.presenter.remember(LEVEL_SETTING, text)
        self.coach.restart()
        name = level_name(self.session.level())
        self.screen.say(_("Level: {level}").format(level=name))

    def _choose_language(self) -> None:
        choices = [Choice(code, name) for code, name in LANGUAGES.items()]
        self.screen.choose(
            ListRequest(_("Language"), choices, self._set_language, current=language())
        )

    def _set_language(self, code: str) -> None:
        """Change the language. Text on the screen does not change until the next start."""
        set_language(code)
        self.presenter.remember("language", code)
        self.screen.say(_("All texts will be in English from the next start."))

    def set_theme(self, name: str) -> None:
        """Change the colour theme."""
        self.theme = get_theme(name)
        self.screen.set_theme(self.theme)
        self._save_setting("theme", name, _("Theme: {name}.").format(name=_(self.theme.title)))

    def _toggle_animation(self) -> None:
        is_on = self.presenter.is_animated = not self.presenter.is_animated
        message = _("Animation is on.") if is_on else _("Animation is off.")
        self._save_setting("animation", is_on, message)

    def _toggle_milestones(self) -> None:
        is_on = self.presenter.is_racing = not self.presenter.is_racing
        message = _("Milestones are shown.") if is_on else _("Milestones are hidden.")
        self._save_setting("milestones", is_on, message)

    def _save_setting(self, key: str, value: object, message: str) -> None:
        self.presenter.remember(key, value)
        self.screen.say(message)
        self.presenter.show_status()


class PlayerCommands:
    """Handles the actions for hints and autoplay.

    Args:
        presenter: Shows events.
        worker: Runs the player.
        coach: Paused during autoplay.
        player: Spec of the player. Defaults to the player that was chosen last.

    Attributes:
        playing: Spec of the player that plays automatically, or an empty string.
        speed: One of `SPEEDS`.
    """

    def __init__(
        self, presenter: Presenter, worker: BackgroundWorker, coach: Coach, player: str | None
    ) -> None:
        self._presenter, self._worker, self._coach = presenter, worker, coach
        self._session, self._screen = presenter.session, presenter.screen
        self._requested_player = player
        self._compiler_progress = ""
        self._request_time = 0.0
        self.playing = ""
        speed = self._session.get_setting("autoplay_speed", START_SPEED)
        self.speed = speed if speed in SPEEDS else START_SPEED
        self.commands: Commands = {
            "hint": self.hint,
            "autoplay": self.toggle_autoplay,
            "faster": lambda: self.set_speed(SPEEDS.index(self.speed) + 1),
            "slower": lambda: self.set_speed(SPEEDS.index(self.speed) - 1),
            "player": self.choose,
        }

    @property
    def player(self) -> str:
        """Spec of the current player."""
        chosen = self._requested_player or str(self._session.get_setting("player", ""))
        return chosen or self._session.best_player

    def _name(self, spec: str) -> str:
        return player_name(spec, self._session.best_player)

    def choose(self) -> None:
        """Let the user choose a player."""
        self._screen.choose(
            ListRequest(
                _("Who gives hints and plays?"),
                [Choice(each.value, _(each.title), _(each.detail)) for each in PLAYERS],
                self.set_player,
                current="" if self.player == self._session.best_player else self.player,
                own=_("Advanced: a player with options, such as expectimax:depth=3"),
                check=partial(fault_of, self._session.get_player),
            )
        )

    def set_player(self, spec: str) -> None:
        """Change the player for hints and autoplay."""
        was_playing = self.playing
        self.stop()
        self._requested_player = None
        self._presenter.remember("player", spec)
        text = _("{name} now gives hints and plays.")
        self._screen.say(text.format(name=self._name(spec)))
        self._presenter.show_status()
        if was_playing:
            self._start(self.player)

    def _show_note(self, note: str) -> None:
        self._presenter.note = note
        self._presenter.show_status()

    # Hints

    def hint(self) -> None:
        """Request a hint in the background."""
        session, player = self._session, self.player
        if session.game.is_over:
            self._screen.say(_("The game is over: no hint is possible."))
            return
        self._screen.cover(None)
        self._show_note(_("{player} is thinking …").format(player=self._name(player)))
        snapshot = session.snapshot()
        level = session.level() if player == session.best_player else None
        self._compiler_progress = ""
        self._worker.run(
            lambda: advise(snapshot, session.get_player(player), level),
            partial(self._receive_hint, player),
        )

    def _receive_hint(self, player: str, result: Hint | Compiling | Failure) -> None:
        """Show a hint, the compiler's progress or an error. Stale hints are ignored."""
        match result:
            case Failure(reason):
                self._show_note("")
                self._screen.warn(reason)
            case Hint():
                if not result.instead_of:
                    self._show_note("")
                is_shown = self._presenter.show(self._session.show_hint(result))
                if not is_shown and self._compiler_progress:
                    text = _("{player} is ready and now gives hints.")
                    self._screen.say(text.format(player=self._name(result.player)))
            case compiling:
                self._compiler_progress = preparing(compiling)
                self._show_note(f"{self._name(player)}: {self._compiler_progress}")

    # Autoplay

    def toggle_autoplay(self) -> None:
        """Start or stop autoplay."""
        if self.playing:
            self.stop()
        elif self._session.game.is_over:
            self._screen.say(_("The game is over: start a new one to watch."))
        else:
            self._screen.cover(None)
            self._start(self.player)

    def set_speed(self, index: int) -> None:
        """Set the speed to ``SPEEDS[index]``, clamping the index to the valid range."""
        speed = SPEEDS[min(max(index, 0), len(SPEEDS) - 1)]
        if speed == self.speed:
            return
        self.speed = speed
        self._presenter.remember("autoplay_speed", speed)
        if self.playing:
            self._update_autoplay()
        else:
            self._presenter.show_status()
        message = ngettext(
            "It makes {n} move a second.", "It makes {n} moves a second.", speed
        ).format(n=speed)
        self._screen.say(_("It plays as fast as it can.") if speed == SPEEDS[-1] else message)

    def stop(self) -> None:
        """Stop autoplay and discard the pending move."""
        if self.playing:
            self.playing = ""
            self._worker.cancel()
            self._update_autoplay()

    def _start(self, player: str) -> None:
        self.playing, self._compiler_progress = player, ""
        self._update_autoplay()
        self._request_move()

    def _update_autoplay(self) -> None:
        is_fastest = self.speed == SPEEDS[-1]
        interval_s = 0.0 if is_fastest else 1 / self.speed
        self._presenter.interval_s = interval_s if self.playing else None
        self._coach.pause(is_paused=bool(self.playing))
        pace = _("full speed") if is_fastest else _("{n} a second").format(n=self.speed)
        name = self._name(self.playing)
        self._show_note(self.playing and f"{name}: {self._compiler_progress or pace}")

    def _request_move(self) -> None:
        session, player, snapshot = self._session, self.playing, self._session.snapshot()
        self._request_time = monotonic()
        self._worker.run(
            lambda: advise(snapshot, session.get_player(player), only_move=True),
            self._receive_move,
        )

    def _receive_move(self, result: Hint | Compiling | Failure) -> None:
        """Schedule the computer player's move, or show the compiler's progress."""
        if isinstance(result, Failure):
            self.stop()
            self._screen.warn(result.reason)
            return
        progress = "" if isinstance(result, Hint) else preparing(result)
        if progress != self._compiler_progress:
            self._compiler_progress = progress
            self._update_autoplay()
        if isinstance(result, Hint):
            wait_s = self._request_time + (self._presenter.interval_s or 0.0) - monotonic()
            self._screen.later(max(0.0, wait_s), partial(self._play, self.playing, result))

    def _play(self, player: str, hint: Hint) -> None:
        """Play a move, unless autoplay was stopped or switched to another player."""
        if player != self.playing:
            return
        is_played = self._presenter.show(self._session.play_hint(hint))
        if self._session.game.is_over:
            self.stop()
        elif is_played:
            self._request_move()


class GameCommands:
    """Handles moves, and the actions that start, resume, open and save games.

    Args:
        presenter: Shows events.
        stop: Stops autoplay.

    Attributes:
        more_rules: Additional buttons for the dialog that lists the rules.
        open_pasted: Function that opens a pasted game. By default, the game is continued from its
            last position.
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
            **{str(each): partial(self._move, each) for each in Direction},
            "undo": partial(self._step, session.undo, N_("There is nothing to undo.")),
            "redo": partial(self._step, session.redo, N_("There is nothing to redo.")),
            "new": lambda: self.start(session.start),
            "rules": self._choose_rules,
            "games": lambda: presenter.attempt(self._choose_game),
            "open": self._open,
            "save": self._save,
        }

    def _move(self, direction: Direction) -> None:
        self._presenter.show(self._session.move(direction))

    def _step(self, step: Callable[[], Iterable[Event]], nothing: str) -> None:
        if not self._presenter.show(step()):
            self._screen.say(_(nothing))

    def start(self, action: Callable[[], Iterable[Event]]) -> None:
        """Start a new game with `action`, after confirmation if a game is in progress."""
        self._stop()
        if self._session.in_progress:
            self._confirm(_("Start a new game?"), _("New game"), _("Keep this one"), action)
        else:
            self._presenter.change(action)

    def replace(self, action: Callable[[], Iterable[Event]]) -> None:
        """Replace the game with `action`, after confirmation if the old game would be lost."""
        self._stop()
        if self._session.keeps_games or not self._session.in_progress:
            self._presenter.change(action)
        else:
            text = _("Leave this game? It cannot be saved.")
            self._confirm(text, _("Leave it"), _("Keep it"), action)

    def _confirm(self, text: str, yes: str, no: str, action: Callable[[], Iterable[Event]]) -> None:
        self._screen.ask(text, yes, no, lambda: self._presenter.change(action))

    def _choose_rules(self) -> None:
        courses = _("Courses …"), partial(self._list_rules, [*map(get_rules, COURSE_PRESETS)])
        self._list_rules(list_boards(), courses, *self.more_rules)

    def _list_rules(self, listed: Iterable[Rules], *more: tuple[str, Callable[[], object]]) -> None:
        self._screen.choose(
            ListRequest(
                _("Rules"),
                [Choice(rules.name, rules.name, describe_rules(rules)) for rules in listed],
                lambda text: self.play_by(Rules.parse(text)),
                current=self._session.rules.name,
                own=_("Advanced: rules as a text, such as classic:size=5x5"),
                check=partial(fault_of, Rules.parse),
                more=more,
            )
        )

    def play_by(self, rules: Rules) -> None:
        """Continue the last game under `rules`, or start a new game."""
        if rules == self._session.rules:
            self.start(self._session.start)
        else:
            self.replace(lambda: self._session.switch_rules(rules))

    def play_from(self, board: Board, rules: Rules | None = None) -> None:
        """Start an assisted game from a position."""
        chosen = resized_rules(rules or self._session.rules, board)
        self.start(lambda: self._session.start(chosen, board=board))

    def _choose_game(self) -> None:
        choices, template = [], _("{points}, {moves}, last played {time}")
        for game in self._session.saved_games():
            if game.position or game.undos:
                score, played, when = points(game.score), moves(game.position), game.updated
                text = template.format(points=score, moves=played, time=format_minute(when))
                choices.append(Choice(game.id, title_of_rules(game.rules), text))
        if choices:
            self._screen.choose(ListRequest(_("Games in progress"), choices, self._resume))
        else:
            self._screen.say(_("There are no games in progress."))

    def _resume(self, game_id: str) -> None:
        """Resume a saved game in its latest state, even if another window has changed it."""
        resume = partial(self._session.resume_game, game_id)
        gone = N_("This game has already ended.")
        self._presenter.attempt(lambda: self._step(resume, gone))

    def paste(self, text: str) -> None:
        """Start a game from a pasted board, or open a pasted game."""

        def open_text() -> None:
            try:
                board = Board.parse(text)
            except BoardError as error:
                self.open_pasted(pasted_record(text, error))
            else:
                self.play_from(board)

        self._presenter.attempt(open_text)

    # Game files and finished games

    @property
    def file_name(self) -> str:
        """Default file name for this game, without an extension."""
        return f"{self._session.rules.name}-{self._session.game.score}"

    def _save(self) -> None:
        def save(path: Path) -> None:
            if self._presenter.attempt(lambda: self._session.save_record(path)):
                self._screen.say(_("Saved as {path}.").format(path=path))

        self._screen.ask_to_save(_("Save this game as"), RECORDS, self.file_name, save)

    def replace_file(self, path: Path, action: Callable[[], object]) -> None:
        """Write a file with `action`, after confirmation if the file exists."""
        attempt = self._presenter.attempt

        def write() -> None:
            if is_written(path):
                text = _("Replace {path}?").format(path=path)
                self._screen.ask(text, _("Replace"), _("Keep it"), lambda: attempt(action))
            else:
                action()

        attempt(write)

    def _open(self) -> None:
        def load(path: Path) -> None:
            self.replace(lambda: self._session.start_from(load_record_file(path)))

        self._screen.ask_to_open(_("Choose a game to continue"), RECORDS, load)

    def choose(
        self,
        title: str,
        use: Callable[[Record], object],
        use_file: Callable[[Record], object] | None = None,
    ) -> None:
        """Let the player choose a record: the current game, a finished game or a file.

        Args:
            title: Title of the list.
            use: Called with the chosen record. Errors are shown as messages.
            use_file: Called with a record from a file. Defaults to `use`.
        """
        session, attempt = self._session, self._presenter.attempt
        choices = [Choice(CURRENT_GAME, _("This game"), points(session.game.score))]

        def add_finished() -> None:
            template = _("{points}, {tile} reached, {time}")
            for game in session.finished(limit=200):
                score, when = points(game.score), format_minute(game.finished)
                text = template.format(points=score, tile=game.max_tile, time=when)
                choices.append(Choice(game.id, title_of_rules(game.rules), text))

        def take(game: str) -> None:
            is_current = game == CURRENT_GAME
            attempt(lambda: use(session.record() if is_current else session.finished_record(game)))

        def take_file(path: Path) -> None:
            attempt(lambda: (use_file or use)(load_record_file(path)))

        ask = partial(self._screen.ask_to_open, title, RECORDS, take_file)
        attempt(add_finished)
        self._screen.choose(ListRequest(title, choices, take, more=((_("From a file …"), ask),)))


class ReviewCommands:
    """Handles the actions for reviews, puzzles, endings and practising mistakes.

    Args:
        presenter: Shows events.
        worker: Runs reviews on request, and prepares drills, which may take a while.
        background: Runs the automatic review when a game ends.
        game: Lists the games to review, and continues play from a reviewed position.
    """

    def __init__(
        self,
        presenter: Presenter,
        worker: BackgroundWorker,
        background: BackgroundWorker,
        game: GameCommands,
    ) -> None:
        self._presenter, self._worker, self._background = presenter, worker, background
        self._game, self._session, self._screen = game, presenter.session, presenter.screen
        self._auto_review: GameReview | None = None  # starts when a game ends
        self.commands: Commands = {"review": self._choose, "practice": self._choose_drill}

    def follow(self, event: Event) -> None:
        """Start a review when a person's game ends, and cancel the review when play continues."""
        match event:
            case events.GameStarted() | events.Moved() | events.Undone() if self._auto_review:
                self._auto_review.close()
                self._auto_review = None
            case events.GameOver(by_computer=False) if self._session.game.ply:
                self._auto_review = GameReview(self._session.record(), self._session.level())
                self._auto_review.start(self._background, self._update_result)

    def _update_result(self, review: Review | None) -> None:
        """Add a review to the result overlay. `None` means that the review failed."""
        if result := self._presenter.result:
            self._presenter.cover(result.with_review(review))

    def _choose(self) -> None:
        """Review the current game if it is over, or else let the player choose a game."""
        own = partial(self.open, is_own=True)
        if self._session.game.is_over and self._session.game.ply:
            self._presenter.attempt(lambda: own(self._session.record()))
        else:
            self._game.choose(_("Choose a game to review"), own, self.open)

    def open(self, record: Record, *, is_own: bool = False) -> None:
        """Open a review. Reviewing the game in progress counts as a hint.

        Args:
            record: The game to review.
            is_own: Whether the player played this game. Mistakes in the player's own finished games
                are saved for practice.

        Raises:
            RecordError: If a turn breaks the record's rules or the record has no move.
        """
        session = self._session
        review, auto = GameReview(record, session.level(record.rules)), self._auto_review
        if is_own and auto and record == auto.record and (auto.is_running or auto.review):
            review = auto if auto.asked == review.asked else review
        is_in_progress = not session.game.is_over and record == session.record()
        if is_in_progress:
            session.count_help()
            self._presenter.show_status()

        def save_mistakes(result: Review) -> None:
            review.note = keep_mistakes(session, result)

        def on_done(result: Review | None) -> None:
            if is_own and not is_in_progress:
                self._update_result(result)
                if result is not None:
                    self._presenter.attempt(lambda: save_mistakes(result))

        def choose_level(text: str) -> None:
            self._presenter.remember(LEVEL_SETTING, text)
            review.restart(session.level(record.rules))

        def leave(name: str) -> None:
            if name == "practice":
                habits = review.review.habits if review.review else ()
                self._choose_drill(habits[0].kind if habits else None)
            else:
                self._game.play_from(review.board, record.rules)

        review.levels = lambda: level_request(session, choose_level)
        self._screen.show_review(review, leave)
        review.start(self._worker, on_done)

    # Practice

    def _choose_drill(self, kind: ReasonKind | None = None) -> None:
        """Let the player choose a drill, with the drill for `kind` preselected."""
        from py2048.app.controller.practice import choice_of, list_offers  # slow: imports the store

        def ask() -> None:
            offers = list_offers(self._session)

            def prepare(value: str) -> None:
                self._prepare(next(make for offer, make in offers.items() if offer.value == value))

            current = choice_of(kind) if kind else ""
            self._screen.choose(ListRequest(_("Practise"), [*offers], prepare, current=current))

        self._presenter.attempt(ask)

    def _prepare(self, make: Callable[[], Drill]) -> None:
        from py2048.app.controller.practice import PracticeRun

        self._screen.say(_("Preparing practice …"))
        self._worker.run(lambda: iter([PracticeRun(make())]), self._show)

    def _show(self, run: PracticeRun | Failure) -> None:
        if isinstance(run, Failure):
            self._screen.warn(run.reason)
            return
        attempt = self._presenter.attempt
        self._screen.say("")
        self._screen.show_practice(run, lambda name: attempt(lambda: run.go(name)))


def level_request(session: Session, take: Callable[[str], object]) -> ListRequest:
    """Return a dialog for choosing the player's own level, a named level or perfect play."""
    own = level_name(session.level(text=ME))
    choices = [
        Choice(ME, _("You"), _("Your own games: {level}").format(level=own)),
        *(Choice(str(level), level_name(level)) for level in reversed(LEVELS)),
        Choice(PERFECT, level_name(None), _("For experts, in points")),
    ]
    current = str(session.get_setting(LEVEL_SETTING, ME))
    return ListRequest(_("Judge moves for which level?"), choices, take, current)


def is_written(path: Path) -> bool:
    """Return whether a file exists.

    Raises:
        RecordError: If the path is invalid.
    """
    with os_errors_as(RecordError, f"cannot write {path}"):
        return path.is_file()


def pasted_record(text: str, board_error: BoardError) -> Record:
    """Parse pasted text as a record, after it could not be parsed as a board.

    Raises:
        RecordError: If there are several games, or the game is damaged.
        BoardError: If the text contains no game.
    """
    try:
        records = parse_records(text)
    except NoGameError:
        raise BoardError(f"this is neither a board nor a game: {board_error}") from None
    if len(records) > 1:
        raise RecordError(f"the text contains {len(records)} games: copy only one")
    return records[0]


def resized_rules(rules: Rules, board: Board) -> Rules:
    """Return `rules` with the size of `board`."""
    rows, columns = board.shape
    if rules.shape == board.shape:
        return rules
    low, high = (min(tiles, rows * columns) for tiles in (rules.start.low, rules.start.high))
    start = RandomStart(low, high, rules.start.weights)
    return replace(rules, rows=rows, columns=columns, start=start)


def title_of_rules(text: str) -> str:
    """Parse rules, and return their title with the board size."""
    rules = Rules.parse(text)
    return title_of(rules.name, rules.shape)


def format_minute(moment: str) -> str:
    """Format an ISO 8601 time as date and minute."""
    return moment[:16].replace("T", " ")


def fault_of(action: Callable[..., object], *args: object) -> str:
    """Return the error message of ``action(*args)``, or an empty string if it succeeds."""
    try:
        action(*args)
    except Py2048Error as error:
        return str(error)
    return ""


def opening(session: Session, start: Start | None = None) -> Iterable[Event]:
    """Return the events that show the session's game on a new screen.

    If the session has no game yet, `start` is called. By default, the last unfinished game is
    resumed, or a new game starts. If the store cannot be read, the events contain a warning and a
    new game starts.
    """
    game = session.game
    if session.version > 0:
        started = events.GameStarted(game.board, game.score, session.best, resumed=game.ply > 0)
        return [started, session.game_over] if game.is_over else [started]
    try:
        return start(session) if start else session.resume() or session.start()
    except StorageError as error:
        return [events.StorageFailed(str(error)), *session.start()]
