"""`Controller`: does what a player asks for. Terminal and window share it.

It has an object for each subject (the game, the players, records, reviews, practice), and each
object says which actions of `py2048.presentation.actions` it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from py2048.app.controller.background import BackgroundWorker, Failure
from py2048.app.controller.coach import SETTING as COACH_SETTING
from py2048.app.controller.coach import Coach
from py2048.app.controller.presenter import GameScreen, Presenter, Start, fault_of, opening
from py2048.app.controller.review import GameReview, keep_mistakes
from py2048.app.session import Event, Hint, Session, hint_player
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, RecordError, os_errors_as
from py2048.core.game import Record
from py2048.core.game.importing import NoGameError, load_record_file, parse_records
from py2048.core.language import LANGUAGES, N_, _, language, ngettext, set_language
from py2048.core.rules import RandomStart, Rules, list_rules
from py2048.presentation import events
from py2048.presentation.describe import describe, describe_rules
from py2048.presentation.hints import PLAYERS, player_name
from py2048.presentation.screen import (
    RECORDS,
    Choice,
    ListRequest,
    moves,
    points,
    preparing,
    title_of,
)
from py2048.presentation.themes import Theme, get_theme, next_theme
from py2048.review import Review

if TYPE_CHECKING:
    from py2048.app.controller.practice import PracticeRun
    from py2048.engine.jit.progress import Compiling

RULES_TEXT = N_("Advanced: rules as a text, such as classic:size=5x5")
PLAYER_TEXT = N_("Advanced: a player with options, such as expectimax:depth=3")

LANGUAGE = "language"
"""The setting."""

CURRENT = "current"
"""Stands for the current game in a list of records: the store has no name for it."""

KEEPS_PLAYING = frozenset(
    {"autoplay", "faster", "slower", "coach", "theme", "animation", "full_screen", "copy"}
)
"""The actions that do not stop autoplay."""

SPEEDS = (1, 2, 4, 8, 16, 32, 1000)
"""Moves a second of autoplay; the last means as fast as the player can."""

START_SPEED = 4

Commands = Mapping[str, Callable[[], object]]
"""What does the actions, by their names in `py2048.presentation.actions`."""


class Controller:
    """Does what a player asks for, and shows the result.

    Args:
        session: where the game is.
        screen: the front end.
        theme: the colours that the screen has.
        reduced_motion: show moves without animation; by default as chosen last.
        player: the spec of a player that plays from the start and gives hints; by default
            hints come from the player chosen last.
        text_of: returns the message for an event.

    Attributes:
        presenter: shows what happens.
        coach: judges moves while they are played.
        players: hints and autoplay.
        game: moves, and which game is played.
        records: games in files, and finished ones.
        reviews: what each move of a game was worth.
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
        self._plays_at_once = player is not None
        self.presenter = presenter = Presenter(session, screen, text_of)
        animated = session.get_setting("animation", True) is not False
        presenter.is_animated = animated and not reduced_motion
        workers = [BackgroundWorker(screen.later) for _ in range(4)]
        judge, adviser, other, quiet = self._workers = workers
        self.coach = Coach(session, screen, judge, presenter.show_status)
        presenter.follow = self._follow
        self.players = PlayerCommands(presenter, adviser, self.coach, player)
        self.game = GameCommands(presenter, self.players.stop)
        self.records = RecordCommands(presenter, self.game)
        self.reviews = ReviewCommands(presenter, other, quiet, self.game, self.records)
        self.commands: dict[str, Callable[[], object]] = {
            **self.game.commands,
            **self.players.commands,
            **self.records.commands,
            **self.reviews.commands,
            **PracticeCommands(presenter, other).commands,
            "coach": self._toggle_coach,
            "language": self._choose_language,
            "theme": lambda: self.set_theme(next_theme(self.theme.name).name),
            "animation": self._toggle_animation,
            "share": screen.share,
            "help": screen.show_help,
            "quit": self._quit,
        }

    def begin(self, start: Start | None = None) -> None:
        """Show the session's game, as `opening` says, and let the player that was named play."""
        if self.session.get_setting(COACH_SETTING, False) is True:
            self.coach.start()
        self.presenter.show(opening(self.session, start))
        self.presenter.show(self.session.check_saving())
        if self.session.unsaved:
            self.screen.show_unsaved(self.session.unsaved)
        if self._plays_at_once and not self.session.game.is_over:
            self.players.toggle_autoplay()

    def _follow(self, event: Event) -> None:
        self.coach.follow(event)
        self.reviews.follow(event)

    def close(self) -> None:
        """Leave the session to others."""
        self.players.stop()
        for worker in self._workers:
            worker.close()

    @property
    def is_waiting(self) -> bool:
        """Whether answers of a player or a judge are to come."""
        return any(worker.is_busy for worker in self._workers)

    def do(self, name: str) -> None:
        """Do the action called `name`; most end autoplay."""
        if name not in KEEPS_PLAYING:
            self.players.stop()
        self.commands[name]()

    def _quit(self) -> None:
        """Quit, after asking if something cannot be saved."""
        if reason := self.session.flush():
            text = _("Not saved: {reason}. Quit all the same?").format(reason=reason)
            self.screen.ask(text, _("Quit"), _("Stay"), self.screen.quit)
        else:
            self.screen.quit()

    def _toggle_coach(self) -> None:
        """Judge moves while they are played, or no longer."""
        said = self.coach.toggle()
        self.presenter.remember(COACH_SETTING, self.coach.is_on)
        self.screen.say(said)

    def _choose_language(self) -> None:
        choices = [Choice(code, name) for code, name in LANGUAGES.items()]
        self.screen.choose(
            ListRequest(_("Language"), choices, self._set_language, current=language())
        )

    def _set_language(self, code: str) -> None:
        """Say everything in a language from now on; what is drawn already, from the next start."""
        set_language(code)
        self.presenter.remember(LANGUAGE, code)
        self.screen.say(_("All texts are in English from the next start on."))

    def set_theme(self, name: str) -> None:
        """Change the colours."""
        self.theme = get_theme(name)
        self.screen.set_theme(self.theme)
        self._keep_look("theme", name, _("Theme: {name}.").format(name=_(self.theme.title)))

    def _toggle_animation(self) -> None:
        is_on = self.presenter.is_animated = not self.presenter.is_animated
        said = _("Animation is on.") if is_on else _("Animation is off.")
        self._keep_look("animation", is_on, said)

    def _keep_look(self, key: str, value: object, said: str) -> None:
        self.presenter.remember(key, value)
        self.screen.say(said)
        self.presenter.show_status()


class PlayerCommands:
    """Hints, and a player that plays by itself.

    Args:
        presenter: shows what happens.
        worker: asks the player.
        coach: pauses while a player plays.
        player: the spec of the player; by default the one chosen last.

    Attributes:
        playing: the spec of the player that plays by itself, or an empty text.
        speed: one of `SPEEDS`.
    """

    def __init__(
        self, presenter: Presenter, worker: BackgroundWorker, coach: Coach, player: str | None
    ) -> None:
        self._presenter, self._worker, self._coach = presenter, worker, coach
        self._session, self._screen = presenter.session, presenter.screen
        self._wanted = player
        self._progress = ""  # of the compiler
        self._asked = 0.0
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
        """The spec of the player."""
        return self._wanted or str(self._session.get_setting("player", "")) or self._best

    @property
    def _best(self) -> str:
        """The spec of the best player on this board."""
        return hint_player(self._session.rules, self._session.game.board)

    def _name(self, spec: str) -> str:
        return player_name(spec, self._best)

    def choose(self) -> None:
        """Choose another player."""
        self._screen.choose(
            ListRequest(
                _("Who gives hints and plays?"),
                [Choice(each.spec, _(each.name), _(each.about)) for each in PLAYERS],
                self.set_player,
                current="" if self.player == self._best else self.player,
                own=_(PLAYER_TEXT),
                check=lambda text: fault_of(lambda: self._session.get_player(text)),
            )
        )

    def set_player(self, spec: str) -> None:
        """Let another player give hints and play."""
        was_playing = self.playing
        self.stop()
        self._wanted = None
        self._presenter.remember("player", spec)
        text = _("{name} gives hints and plays from now on.")
        self._screen.say(text.format(name=self._name(spec)))
        self._presenter.show_status()
        if was_playing:
            self._start(self.player)

    def _show_note(self, note: str) -> None:
        self._presenter.note = note
        self._presenter.show_status()

    # Hints

    def hint(self) -> None:
        """Ask the player what to do, in the background."""
        session, player = self._session, self.player
        if session.game.is_over:
            self._screen.say(_("The game is over: there is no move to hint at."))
            return
        self._screen.cover(None)
        self._show_note(_("{player} is thinking …").format(player=self._name(player)))
        snapshot = session.snapshot()
        self._progress = ""
        self._worker.ask(lambda: session.advise(snapshot, player), partial(self._take_hint, player))

    def _take_hint(self, player: str, answer: Hint | Compiling | Failure) -> None:
        """Show a hint, unless the game has moved on, and the compiler's progress."""
        match answer:
            case Failure(reason):
                self._show_note("")
                self._screen.warn(reason)
            case Hint():
                if not answer.instead_of:
                    self._show_note("")
                is_shown = self._presenter.show(self._session.show_hint(answer))
                if not is_shown and self._progress:
                    text = _("{player} is ready and gives hints from now on.")
                    self._screen.say(text.format(player=self._name(answer.player)))
            case compiling:
                self._progress = preparing(compiling)
                self._show_note(f"{self._name(player)}: {self._progress}")

    # Autoplay

    def toggle_autoplay(self) -> None:
        """Let the player play, or stop it."""
        if self.playing:
            self.stop()
        elif self._session.game.is_over:
            self._screen.say(_("The game is over: there is nothing to play."))
        else:
            self._screen.cover(None)
            self._start(self.player)

    def set_speed(self, index: int) -> None:
        """Play at ``SPEEDS[index]``, or at the slowest or fastest speed beyond its ends."""
        speed = SPEEDS[min(max(index, 0), len(SPEEDS) - 1)]
        if speed == self.speed:
            return
        self.speed = speed
        self._presenter.remember("autoplay_speed", speed)
        if self.playing:
            self._autoplay_changed()
        else:
            self._presenter.show_status()
        said = ngettext(
            "It makes {n} move a second.", "It makes {n} moves a second.", speed
        ).format(n=speed)
        self._screen.say(_("It plays as fast as it can.") if speed == SPEEDS[-1] else said)

    def stop(self) -> None:
        """Stop playing; a move that the player is still choosing is dropped."""
        if self.playing:
            self.playing = ""
            self._worker.drop()
            self._autoplay_changed()

    def _start(self, player: str) -> None:
        self.playing, self._progress = player, ""
        self._autoplay_changed()
        self._ask_for_move()

    def _autoplay_changed(self) -> None:
        is_fastest = self.speed == SPEEDS[-1]
        interval_s = 0.0 if is_fastest else 1 / self.speed
        self._presenter.interval_s = interval_s if self.playing else None
        self._coach.pause(is_paused=bool(self.playing))
        pace = _("full speed") if is_fastest else _("{n} a second").format(n=self.speed)
        name = self._name(self.playing)
        self._show_note(self.playing and f"{name}: {self._progress or pace}")

    def _ask_for_move(self) -> None:
        session, player, snapshot = self._session, self.playing, self._session.snapshot()
        self._asked = monotonic()
        self._worker.ask(lambda: session.advise(snapshot, player, only_move=True), self._take_move)

    def _take_move(self, answer: Hint | Compiling | Failure) -> None:
        """Play the move that was chosen when it is due; until then show the compiler's progress."""
        if isinstance(answer, Failure):
            self.stop()
            self._screen.warn(answer.reason)
            return
        progress = "" if isinstance(answer, Hint) else preparing(answer)
        if progress != self._progress:
            self._progress = progress
            self._autoplay_changed()
        if isinstance(answer, Hint):
            wait_s = self._asked + (self._presenter.interval_s or 0.0) - monotonic()
            self._screen.later(max(0.0, wait_s), partial(self._play, self.playing, answer))

    def _play(self, player: str, hint: Hint) -> None:
        """Play a move, unless another player, or none, plays by now."""
        if player != self.playing:
            return
        is_played = self._presenter.show(self._session.play_hint(hint))
        if self._session.game.is_over:
            self.stop()
        elif is_played:
            self._ask_for_move()


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
            **{str(each): partial(self._move, each) for each in Direction},
            "undo": partial(self._step, session.undo, N_("There is nothing to take back.")),
            "redo": partial(self._step, session.redo, N_("There is no move to play again.")),
            "new": lambda: self.start(session.start),
            "rules": self._choose_rules,
            "games": lambda: presenter.attempt(self._choose_game),
        }

    def _move(self, direction: Direction) -> None:
        self._presenter.show(self._session.move(direction))

    def _step(self, step: Callable[[], Iterable[Event]], nothing: str) -> None:
        if not self._presenter.show(step()):
            self._screen.say(_(nothing))

    def start(self, action: Callable[[], Iterable[Event]]) -> None:
        """Start a new game by `action`, after asking if one is in progress."""
        self._stop()
        if self._session.in_progress:
            self._ask(_("Start a new game?"), _("New game"), _("Keep this one"), action)
        else:
            self._presenter.change(action)

    def replace(self, action: Callable[[], Iterable[Event]]) -> None:
        """Change to another game by `action`; ask first if this one would be lost."""
        self._stop()
        if self._session.keeps_games or not self._session.in_progress:
            self._presenter.change(action)
        else:
            text = _("Leave this game? It cannot be kept.")
            self._ask(text, _("Leave it"), _("Keep it"), action)

    def _ask(self, text: str, yes: str, no: str, action: Callable[[], Iterable[Event]]) -> None:
        self._screen.ask(text, yes, no, lambda: self._presenter.change(action))

    def _choose_rules(self) -> None:
        self._screen.choose(
            ListRequest(
                _("Rules"),
                [Choice(rules.name, rules.name, describe_rules(rules)) for rules in list_rules()],
                lambda text: self.play_by(Rules.parse(text)),
                current=self._session.rules.name,
                own=_(RULES_TEXT),
                check=lambda text: fault_of(lambda: Rules.parse(text)),
                more=self.more_rules,
            )
        )

    def play_by(self, rules: Rules) -> None:
        """Continue the last game under `rules`, or start one."""
        if rules == self._session.rules:
            self.start(self._session.start)
        else:
            self.replace(lambda: self._session.switch_rules(rules))

    def play_from(self, board: Board, rules: Rules | None = None) -> None:
        """Start a game from a position, which counts as assisted."""
        chosen = rules_for(rules or self._session.rules, board)
        self.start(lambda: self._session.start(chosen, board=board))

    def _choose_game(self) -> None:
        choices, said = [], _("{points}, {moves}, last played {time}")
        for game in self._session.saved_games():
            if game.position or game.undos:
                score, played = points(game.score), moves(game.position)
                text = said.format(points=score, moves=played, time=minute_of(game.updated))
                choices.append(Choice(game.id, title_of_rules(game.rules), text))
        if choices:
            self._screen.choose(ListRequest(_("Games in progress"), choices, self._resume))
        else:
            self._screen.say(_("There are no games in progress."))

    def _resume(self, game_id: str) -> None:
        """Resume a game as it is now: another window may have continued or finished it."""
        resume, gone = partial(self._session.resume_game, game_id), N_("This game is over by now.")
        self._presenter.attempt(lambda: self._step(resume, gone))

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
        self.commands: Commands = {"open": self._open, "save": self._save}

    @property
    def file_name(self) -> str:
        """A name for a file of this game, without its ending."""
        return f"{self._session.rules.name}-{self._session.game.score}"

    def _save(self) -> None:
        def save(path: Path) -> None:
            if self._presenter.attempt(lambda: self._session.save_record(path)):
                self._screen.say(_("Saved as {path}.").format(path=path))

        self._screen.ask_to_save(_("Save this game as"), RECORDS, self.file_name, save)

    def replace_file(self, path: Path, action: Callable[[], object]) -> None:
        """Write a file by `action`, after asking if one is there."""
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
            self._game.replace(lambda: self._session.start_from(load_record_file(path)))

        self._screen.ask_to_open(_("Which game shall go on?"), RECORDS, load)

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
        choices = [Choice(CURRENT, _("This game"), points(session.game.score))]

        def add_finished() -> None:
            said = _("{points}, {tile} reached, {time}")
            for game in session.finished(limit=200):
                score, when = points(game.score), minute_of(game.finished)
                text = said.format(points=score, tile=game.max_tile, time=when)
                choices.append(Choice(game.id, title_of_rules(game.rules), text))

        def take(game: str) -> None:
            load = session.record if game == CURRENT else partial(session.finished_record, game)
            attempt(lambda: use(load()))

        def take_file(path: Path) -> None:
            attempt(lambda: (use_file or use)(load_record_file(path)))

        ask = partial(self._screen.ask_to_open, title, RECORDS, take_file)
        attempt(add_finished)
        self._screen.choose(ListRequest(title, choices, take, more=((_("From a file …"), ask),)))


class ReviewCommands:
    """What each move of a game was worth.

    Args:
        presenter: shows what happens.
        worker: judges the moves.
        quiet: judges those of a game that has ended, unasked.
        game: plays on from a position.
        records: the games to choose from.
    """

    def __init__(
        self,
        presenter: Presenter,
        worker: BackgroundWorker,
        quiet: BackgroundWorker,
        game: GameCommands,
        records: RecordCommands,
    ) -> None:
        self._presenter, self._worker, self._quiet = presenter, worker, quiet
        self._game, self._records = game, records
        self._session, self._screen = presenter.session, presenter.screen
        self._of_end: GameReview | None = None  # begun by itself when the game was over
        self.commands: Commands = {"review": self._choose}

    def follow(self, event: Event) -> None:
        """Review a person's game that is over, for its result; no longer when it is not."""
        match event:
            case events.GameStarted() | events.Moved() | events.Undone() if self._of_end:
                self._of_end.close()
                self._of_end = None
            case events.GameOver(by_computer=False) if self._session.game.ply:
                self._of_end = GameReview(self._session.record())
                self._of_end.start(self._quiet, self._tell)

    def _tell(self, whole: Review | None) -> None:
        """Complete the result by its review, if there can be one."""
        if result := self._presenter.result:
            self._presenter.cover(result.with_review(whole))

    def _choose(self) -> None:
        """Review the game if it is over; else choose one."""
        own = partial(self.open, is_own=True)
        if self._session.game.is_over and self._session.game.ply:
            self._presenter.attempt(lambda: own(self._session.record()))
        else:
            self._records.choose(_("Which game shall be reviewed?"), own, self.open)

    def open(self, record: Record, *, is_own: bool = False) -> None:
        """Review a game; a look at the moves of the game in progress counts as a hint.

        Args:
            record: the game.
            is_own: whether the player has played it: the mistakes of a finished game are then put
                into the notebook when all is judged.

        Raises:
            RecordError: if the record breaks its own rules, or has no move.
        """
        session, review = self._session, GameReview(record)
        if is_own and self._of_end and record == self._of_end.record and self._of_end.is_usable:
            review = self._of_end
        is_in_progress = not session.game.is_over and record == session.record()
        if is_in_progress:
            session.count_help()
            self._presenter.show_status()

        def keep(whole: Review) -> None:
            review.note = keep_mistakes(session, whole)

        def finish(whole: Review | None) -> None:
            if is_own and not is_in_progress:
                self._tell(whole)
                if whole is not None:
                    self._presenter.attempt(lambda: keep(whole))

        self._screen.show_review(review, lambda: self._game.play_from(review.board, record.rules))
        review.start(self._worker, finish)


class PracticeCommands:
    """Mistakes, puzzles and endings to practise.

    Args:
        presenter: shows what happens.
        worker: prepares what is asked: an ending takes some time to deal.
    """

    def __init__(self, presenter: Presenter, worker: BackgroundWorker) -> None:
        self._presenter, self._worker = presenter, worker
        self._session, self._screen = presenter.session, presenter.screen
        self.commands: Commands = {"practice": lambda: presenter.attempt(self._choose)}

    def _choose(self) -> None:
        from py2048.app.controller.practice import list_offers  # it loads the store

        self._screen.choose(ListRequest(_("Practise"), list_offers(self._session), self._prepare))

    def _prepare(self, choice: str) -> None:
        from py2048.app.controller.practice import PracticeRun, drill_of

        self._screen.say(_("Preparing practice …"))
        self._worker.ask(lambda: iter([PracticeRun(drill_of(self._session, choice))]), self._take)

    def _take(self, run: PracticeRun | Failure) -> None:
        if isinstance(run, Failure):
            self._screen.warn(run.reason)
            return
        attempt = self._presenter.attempt
        self._screen.say("")
        self._screen.show_practice(run, lambda name: attempt(lambda: run.go(name)))


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


def title_of_rules(text: str) -> str:
    """Return what people call the rules in a text, with the size of their board."""
    rules = Rules.parse(text)
    return title_of(rules.name, rules.shape)


def minute_of(moment: str) -> str:
    """Return the date and the minute of a time in ISO 8601."""
    return moment[:16].replace("T", " ")
