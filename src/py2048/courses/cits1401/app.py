"""The window of the game: score board, board, status panel, New game and Quit."""

from __future__ import annotations

import sys
import tkinter as tk
from collections import Counter
from collections.abc import Callable, Sequence

from py2048.courses.cits1401.board_view import DARK, FONT, GOLD, PAGE, WHITE, BoardCanvas
from py2048.courses.cits1401.presenter import (
    SIDES,
    SPEEDS,
    BorderPresenter,
    GameSettings,
    PlayerKind,
    ViewState,
    checked_side,
)
from py2048.direction import Direction
from py2048.errors import CourseError


class Card(tk.Frame):
    """A number with its name, as on a score board.

    Attributes:
        value: the number shown.
    """

    def __init__(self, parent: tk.Misc, name: str) -> None:
        super().__init__(parent, background="#0b4bb3", padx=14, pady=6)
        self.value = 0
        tk.Label(
            self, text=name, font=(FONT, -12, "bold"), foreground=GOLD, background="#0b4bb3"
        ).pack()
        self._number = tk.Label(
            self,
            text="0",
            font=(FONT, -24, "bold"),
            foreground=WHITE,
            background="#0b4bb3",
            width=7,
        )
        self._number.pack()

    @property
    def text(self) -> str:
        """The number as it can be read."""
        return str(self._number["text"])

    def show(self, value: int) -> None:
        """Show another number."""
        self.value = value
        self._number["text"] = str(value)


def button(
    parent: tk.Misc, text: str, command: Callable[[], None], face: str, ink: str
) -> tk.Button:
    """Return a flat button that brightens under the mouse."""
    made = tk.Button(
        parent,
        text=text,
        command=command,
        font=(FONT, -18, "bold"),
        background=face,
        foreground=ink,
        activebackground=GOLD,
        activeforeground=DARK,
        relief="flat",
        borderwidth=0,
        highlightthickness=2,
        highlightbackground=face,
        padx=22,
        pady=9,
        cursor="hand2",
    )
    made.bind("<Return>", lambda _: made.invoke())
    return made


def choices(
    parent: tk.Misc,
    variable: tk.StringVar,
    values: Sequence[str],
    command: Callable[[], None] | None = None,
) -> tk.Frame:
    """Return a row of buttons of which one is down: the one that `variable` names."""
    row = tk.Frame(parent, background=str(parent["background"]))
    for value in values:
        choice = tk.Radiobutton(
            row,
            text=value,
            value=value,
            variable=variable,
            indicatoron=False,
            font=(FONT, -15),
            background="#e7e3d9",
            foreground=DARK,
            selectcolor=GOLD,
            relief="flat",
            borderwidth=0,
            padx=10,
            pady=5,
            cursor="hand2",
        )
        if command is not None:
            choice.configure(command=command)
        choice.pack(side="left", padx=(0, 4))
    return row


SKILLS = {"random": PlayerKind.RANDOM, "intelligent": PlayerKind.INTELLIGENT}


class NewGamePanel(tk.Frame):
    """A panel over the board with the two answers, Human and Computer, and the options.

    Args:
        parent: the board that it covers.
        on_answer: called with the settings that were chosen.
    """

    def __init__(self, parent: tk.Misc, on_answer: Callable[[GameSettings], None]) -> None:
        super().__init__(parent, background=WHITE, padx=30, pady=24)
        self.configure(highlightthickness=2, highlightbackground=BLUE)
        self._on_answer = on_answer
        self.rows = tk.StringVar(self)
        self.columns = tk.StringVar(self)
        self.skill = tk.StringVar(self, "random")
        self.speed = tk.StringVar(self)
        self._build()

    @property
    def is_open(self) -> bool:
        """Whether the question is on the screen."""
        return bool(self.place_info())

    def open(self, settings: GameSettings) -> None:
        """Ask, with the answers of the last time filled in."""
        self.rows.set(str(settings.rows))
        self.columns.set(str(settings.columns))
        self.speed.set(settings.speed.name)
        self.complaint["text"] = ""
        self.place(relx=0.5, rely=0.5, anchor="center")
        self.human.focus_set()

    def close(self) -> None:
        """Take the question away."""
        self.place_forget()

    def _build(self) -> None:
        heading = tk.Label(self, text="New game", font=(FONT, -30, "bold"))
        heading.configure(foreground=BLUE, background=WHITE)
        heading.grid(row=0, column=0, columnspan=2, pady=(0, 14))
        self._build_size()
        self._label("Computer", 2)
        self._choices(self.skill, tuple(SKILLS), 2)
        self._label("Speed", 3)
        self._choices(self.speed, tuple(speed.name for speed in SPEEDS), 3)
        question = tk.Label(self, text="Who plays?", font=(FONT, -20, "bold"))
        question.configure(foreground=DARK, background=WHITE)
        question.grid(row=4, column=0, columnspan=2, pady=(16, 8))
        answers = tk.Frame(self, background=WHITE)
        answers.grid(row=5, column=0, columnspan=2)
        self.human = button(answers, "Human", self._human, BLUE, WHITE)
        self.human.pack(side="left", padx=8)
        self.computer = button(answers, "Computer", self._computer, BLUE, WHITE)
        self.computer.pack(side="left", padx=8)
        self.complaint = tk.Label(self, font=(FONT, -14), foreground="#b3261e", background=WHITE)
        self.complaint.configure(wraplength=380)
        self.complaint.grid(row=6, column=0, columnspan=2, pady=(10, 0))

    def _build_size(self) -> None:
        self._label("Board", 1)
        line = tk.Frame(self, background=WHITE)
        line.grid(row=1, column=1, sticky="w", pady=4)
        for text, side in (("rows", self.rows), ("columns", self.columns)):
            box = tk.Spinbox(
                line, from_=SIDES[0], to=SIDES[-1], textvariable=side, width=4, font=(FONT, -16)
            )
            box.pack(side="left")
            label = tk.Label(line, text=text, font=(FONT, -16), background=WHITE)
            label.configure(foreground=DARK)
            label.pack(side="left", padx=(4, 14))

    def _label(self, text: str, row: int) -> None:
        label = tk.Label(self, text=text, font=(FONT, -16, "bold"), background=WHITE)
        label.configure(foreground=DARK)
        label.grid(row=row, column=0, sticky="e", padx=(0, 14), pady=4)

    def _choices(self, variable: tk.StringVar, values: tuple[str, ...], row: int) -> None:
        choices(self, variable, values).grid(row=row, column=1, sticky="w", pady=4)

    def _human(self) -> None:
        self._answer(PlayerKind.HUMAN)

    def _computer(self) -> None:
        self._answer(SKILLS[self.skill.get()])

    def _answer(self, player_kind: PlayerKind) -> None:
        speed = next(speed for speed in SPEEDS if speed.name == self.speed.get())
        try:
            sides = checked_side(self.rows.get()), checked_side(self.columns.get())
        except CourseError as error:
            self.complaint["text"] = str(error)
            return
        self._on_answer(GameSettings(player_kind, *sides, speed))


TITLE = "CITS1401 - 2048 on the border"
BLUE = "#003087"

KEYS = {
    Direction.UP: ("Up", "w", "k"),
    Direction.DOWN: ("Down", "s", "j"),
    Direction.LEFT: ("Left", "a", "h"),
    Direction.RIGHT: ("Right", "d", "l"),
}

LIGHTS = {
    "successful": "#2e9e5b",
    "not possible": "#d98a1f",
    "over": "#c23b3b",
}
"""The colour of the status panel's light, by a word of the status."""

WAITING = "#4a62c8"

SLIDE_MS = 110
"""How long tiles slide where there is time for it, in milliseconds."""


class App(tk.Tk):
    """The window. It is the `GameScreen` of its presenter.

    Args:
        seed: of the games, for tests; by default every game differs.
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__()
        self.title(TITLE)
        self.configure(background=PAGE)
        self.resizable(False, False)
        self.presenter = BorderPresenter(self, seed)
        self._waiting: str | None = None
        self._best: Counter[tuple[int, int]] = Counter()
        self._build_header()
        self.board = BoardCanvas(self, self.presenter.click, self.presenter.push)
        self.board.pack(padx=20, pady=(16, 8))
        self._build_status()
        self._build_buttons()
        self.panel = NewGamePanel(self.board, self._start)
        self._bind_keys()
        self.protocol("WM_DELETE_WINDOW", self.quit_game)
        self.ask()

    def _build_header(self) -> None:
        header = tk.Frame(self, background=BLUE)
        header.pack(fill="x")
        names = tk.Frame(header, background=BLUE)
        names.pack(side="left", padx=20, pady=12)
        tk.Label(
            names, text="2048", font=(FONT, -38, "bold"), foreground=GOLD, background=BLUE
        ).pack(anchor="w")
        tk.Label(
            names, text="CITS1401 Project 2", font=(FONT, -15), foreground=WHITE, background=BLUE
        ).pack(anchor="w")
        self.largest = Card(header, "LARGEST")
        self.best = Card(header, "BEST")
        self.score = Card(header, "SCORE")
        for card in (self.largest, self.best, self.score):
            card.pack(side="right", padx=(0, 14), pady=12)

    def _build_status(self) -> None:
        panel = tk.Frame(self, background=WHITE, highlightthickness=1)
        panel.configure(highlightbackground="#cfcabd")
        panel.pack(fill="x", padx=20)
        self.light = tk.Frame(panel, width=10, height=40, background=WAITING)
        self.light.pack(side="left", fill="y")
        self.status = tk.Label(
            panel, font=(FONT, -20), foreground=DARK, background=WHITE, anchor="w", padx=14
        )
        self.status.pack(side="left", fill="x", expand=True, pady=10)

    def _build_buttons(self) -> None:
        bar = tk.Frame(self, background=PAGE)
        bar.pack(fill="x", padx=20, pady=16)
        self.new_game_button = button(bar, "New game", self.presenter.new_game, BLUE, WHITE)
        self.new_game_button.pack(side="left")
        self.quit_button = button(bar, "Quit", self.quit_game, "#d8d3c7", DARK)
        self.quit_button.pack(side="right")
        self.hint = tk.Label(
            bar,
            text="Click a border square or an arrow, or press an arrow key",
            font=(FONT, -14),
            foreground="#6b665c",
            background=PAGE,
        )
        self.speed = tk.StringVar(self)
        names = [speed.name for speed in SPEEDS]
        self.speed_choice = choices(bar, self.speed, names, self._set_speed)

    def _bind_keys(self) -> None:
        for direction, names in KEYS.items():
            for name in names:
                self.bind(f"<KeyPress-{name}>", self._pusher(direction))
        self.bind("<KeyPress-n>", lambda _: self._command(self.presenter.new_game))
        self.bind("<KeyPress-q>", lambda _: self._command(self.quit_game))

    def _pusher(self, direction: Direction) -> Callable[[object], None]:
        return lambda _: self._command(lambda: self.presenter.push(direction))

    def _command(self, action: Callable[[], None]) -> None:
        """Obey a key, unless the question for a new game is open and takes the keys."""
        if not self.panel.is_open:
            action()

    def _start(self, settings: GameSettings) -> None:
        self.panel.close()
        self.focus_set()
        self.hint.pack_forget()
        self.speed_choice.pack_forget()
        below = self.speed_choice if settings.player_kind.is_computer else self.hint
        below.pack(side="left", expand=True)
        self.speed.set(settings.speed.name)
        self._animate(settings)
        self.board.lay_out((settings.rows, settings.columns))
        self.presenter.start(settings)

    def _set_speed(self) -> None:
        """Let the computer play as fast as the buttons below the board say."""
        self.presenter.set_speed(next(speed for speed in SPEEDS if speed.name == self.speed.get()))
        self._animate(self.presenter.settings)

    def _animate(self, settings: GameSettings) -> None:
        """Let tiles slide so fast that they have arrived before the next move."""
        pause = settings.speed.pause if settings.player_kind.is_computer else SLIDE_MS * 4
        self.board.slide_ms = min(SLIDE_MS, pause // 4)

    def quit_game(self) -> None:
        """End the game in progress and close the window."""
        self.presenter.quit()
        self.destroy()

    # --- what the presenter asks for ---

    def show(self, state: ViewState) -> None:
        """Show the board, the score and the status."""
        self.status["text"] = state.status
        colours = (colour for word, colour in LIGHTS.items() if word in state.status)
        self.light["background"] = next(colours, WAITING)
        self.score.show(state.score)
        best = self._best[state.board.shape] = max(state.score, self._best[state.board.shape])
        self.best.show(best)
        self.largest.show(state.board.max_tile)
        self.board.show(state)

    def ask(self) -> None:
        """Ask who is to play the next game."""
        self.status["text"] = "Choose who plays"
        self.light["background"] = WAITING
        self.board.rest()
        self.panel.open(self.presenter.settings)

    def later(self, milliseconds: int, action: Callable[[], None]) -> None:
        """Call `action` after a while."""
        self.cancel()
        self._waiting = self.after(milliseconds, action)

    def cancel(self) -> None:
        """Forget the action still waiting."""
        if self._waiting is not None:
            self.after_cancel(self._waiting)
            self._waiting = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the window and stay until it is closed; return the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given:
        print(
            f"{' '.join(given)!r}: this program takes no arguments; "
            "the size of the board is asked for at New game",
            file=sys.stderr,
        )
        return 2
    try:
        app = App()
    except tk.TclError as error:
        print(
            f"no window can be opened ({error}); "
            "run this in a desktop session, or set DISPLAY to one",
            file=sys.stderr,
        )
        return 2
    app.mainloop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
