"""The window of the game: score board, board, status panel, New game and Quit."""

from __future__ import annotations

import sys
import tkinter as tk
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

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
from py2048.courses.windows import opened, run
from py2048.direction import Direction
from py2048.errors import CourseError


def label(
    parent: tk.Misc, text: str, size: int, ink: str = DARK, weight: str = "normal"
) -> tk.Label:
    """Return a text on the background of its parent."""
    return tk.Label(
        parent, text=text, font=(FONT, -size, weight), foreground=ink, background=parent["bg"]
    )


class Card(tk.Frame):
    """A number with its name, as on a score board."""

    def __init__(self, parent: tk.Misc, name: str) -> None:
        super().__init__(parent, background="#0b4bb3", padx=14, pady=6)
        label(self, name, 12, GOLD, "bold").pack()
        self._number = label(self, "0", 24, WHITE, "bold")
        self._number.configure(width=7)
        self._number.pack()

    @property
    def text(self) -> str:
        """The number as it can be read."""
        return str(self._number["text"])

    def show(self, value: int) -> None:
        """Show another number."""
        self._number["text"] = str(value)


def button(
    parent: tk.Misc, text: str, command: Callable[[], None], face: str, ink: str
) -> tk.Button:
    """Return a flat button that brightens under the mouse."""
    made = tk.Button(parent, text=text, command=command, font=(FONT, -18, "bold"), cursor="hand2")
    made.configure(background=face, foreground=ink, highlightbackground=face, highlightthickness=2)
    made.configure(activebackground=GOLD, activeforeground=DARK)
    made.configure(relief="flat", borderwidth=0, padx=22, pady=9)
    made.bind("<Return>", lambda _: made.invoke())
    return made


def choices(parent: tk.Misc, variable: tk.StringVar, values: Iterable[str]) -> tk.Frame:
    """Return a row of buttons of which one is down: the one that `variable` names."""
    row = tk.Frame(parent, background=parent["bg"])
    for value in values:
        choice = tk.Radiobutton(row, text=value, value=value, variable=variable, indicatoron=False)
        choice.configure(font=(FONT, -15), background="#e7e3d9", foreground=DARK, selectcolor=GOLD)
        choice.configure(relief="flat", borderwidth=0, padx=10, pady=5, cursor="hand2")
        choice.pack(side="left", padx=(0, 4))
    return row


SKILLS = {"random": PlayerKind.RANDOM, "intelligent": PlayerKind.INTELLIGENT}
PACES = {speed.name: speed for speed in SPEEDS}


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
        label(self, "New game", 30, BLUE, "bold").grid(row=0, columnspan=2, pady=(0, 14))
        sides = tk.Frame(self, background=WHITE)
        for name, side in (("rows", self.rows), ("columns", self.columns)):
            box = tk.Spinbox(sides, from_=SIDES[0], to=SIDES[-1], textvariable=side)
            box.configure(width=4, font=(FONT, -16))
            box.pack(side="left")
            label(sides, name, 16).pack(side="left", padx=(4, 14))
        options = {
            "Board": sides,
            "Computer": choices(self, self.skill, SKILLS),
            "Speed": choices(self, self.speed, PACES),
        }
        for row, (name, option) in enumerate(options.items(), 1):
            label(self, name, 16, weight="bold").grid(row=row, sticky="e", padx=(0, 14), pady=4)
            option.grid(row=row, column=1, sticky="w", pady=4)
        label(self, "Who plays?", 20, weight="bold").grid(row=4, columnspan=2, pady=(16, 8))
        answers = tk.Frame(self, background=WHITE)
        answers.grid(row=5, columnspan=2)
        self.human = button(answers, "Human", self._human, BLUE, WHITE)
        self.computer = button(answers, "Computer", self._computer, BLUE, WHITE)
        for answer in (self.human, self.computer):
            answer.pack(side="left", padx=8)
        self.complaint = label(self, "", 14, "#b3261e")
        self.complaint.configure(wraplength=380)
        self.complaint.grid(row=6, columnspan=2, pady=(10, 0))

    def _human(self) -> None:
        self._answer(PlayerKind.HUMAN)

    def _computer(self) -> None:
        self._answer(SKILLS[self.skill.get()])

    def _answer(self, player_kind: PlayerKind) -> None:
        try:
            sides = checked_side(self.rows.get()), checked_side(self.columns.get())
        except CourseError as error:
            self.complaint["text"] = str(error)
            return
        self._on_answer(GameSettings(player_kind, *sides, PACES[self.speed.get()]))


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
    """The window. It is the `BorderScreen` of its presenter.

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
        label(names, "2048", 38, GOLD, "bold").pack(anchor="w")
        label(names, "CITS1401 Project 2", 15, WHITE).pack(anchor="w")
        self.largest, self.best, self.score = cards = [
            Card(header, name) for name in ("LARGEST", "BEST", "SCORE")
        ]
        for card in cards:
            card.pack(side="right", padx=(0, 14), pady=12)

    def _build_status(self) -> None:
        panel = tk.Frame(self, background=WHITE, highlightthickness=1)
        panel.configure(highlightbackground="#cfcabd")
        panel.pack(fill="x", padx=20)
        self.light = tk.Frame(panel, width=10, height=40, background=WAITING)
        self.light.pack(side="left", fill="y")
        self.status = label(panel, "", 20)
        self.status.configure(anchor="w", padx=14)
        self.status.pack(side="left", fill="x", expand=True, pady=10)

    def _build_buttons(self) -> None:
        bar = tk.Frame(self, background=PAGE)
        bar.pack(fill="x", padx=20, pady=16)
        self.new_game_button = button(bar, "New game", self.presenter.new_game, BLUE, WHITE)
        self.new_game_button.pack(side="left")
        self.quit_button = button(bar, "Quit", self.quit_game, "#d8d3c7", DARK)
        self.quit_button.pack(side="right")
        words = "Click a border square or an arrow, or press an arrow key"
        self.hint = label(bar, words, 14, "#6b665c")

    def _bind_keys(self) -> None:
        actions: dict[str, Callable[[], None]] = {
            name: partial(self.presenter.push, direction)
            for direction, names in KEYS.items()
            for name in names
        }
        actions |= {"n": self.presenter.new_game, "q": self.quit_game}
        for name, action in actions.items():
            self.bind(f"<KeyPress-{name}>", self._key(action))

    def _key(self, action: Callable[[], None]) -> Callable[[object], None]:
        """Obey a key, unless the question for a new game is open and takes the keys."""
        return lambda _: None if self.panel.is_open else action()

    def _start(self, settings: GameSettings) -> None:
        self.panel.close()
        self.focus_set()
        self.hint.pack_forget()
        if not settings.player_kind.is_computer:
            self.hint.pack(side="left", expand=True)
        # Tiles have arrived before the next move.
        pause = settings.speed.pause if settings.player_kind.is_computer else SLIDE_MS * 4
        self.board.slide_ms = min(SLIDE_MS, pause // 4)
        self.board.lay_out((settings.rows, settings.columns))
        self.presenter.start(settings)

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
    given = sys.argv[1:] if arguments is None else arguments

    def play() -> None:
        if given:
            raise CourseError(
                f"{' '.join(given)!r}: this program takes no arguments; "
                "the size of the board is asked for at New game"
            )
        opened(App).mainloop()

    return run(play)


if __name__ == "__main__":
    sys.exit(main())
