"""The window of the game: score board, board, status panel, New game and Quit."""

from __future__ import annotations

import sys
import tkinter as tk
from collections import Counter
from collections.abc import Callable, Sequence

from py2048.courses.cits1401.board_view import FONT, BoardView
from py2048.courses.cits1401.panel import NewGamePanel
from py2048.courses.cits1401.presenter import PACES, Presenter, Scene, Settings
from py2048.courses.cits1401.tiles import DARK, GOLD, PAGE, WHITE
from py2048.courses.cits1401.widgets import Card, button, choices
from py2048.direction import Direction

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
    """The window. It is the `Screen` of its presenter.

    Args:
        seed: of the games, for tests; by default every game differs.
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__()
        self.title(TITLE)
        self.configure(background=PAGE)
        self.resizable(False, False)
        self.presenter = Presenter(self, seed)
        self._waiting: str | None = None
        self._best: Counter[tuple[int, int]] = Counter()
        self._build_header()
        self.board = BoardView(self, self.presenter.click, self.presenter.push)
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
        self.pace = tk.StringVar(self)
        names = [pace.name for pace in PACES]
        self.pace_choice = choices(bar, self.pace, names, self._set_pace)

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

    def _start(self, settings: Settings) -> None:
        self.panel.close()
        self.focus_set()
        self.hint.pack_forget()
        self.pace_choice.pack_forget()
        below = self.pace_choice if settings.mover.is_computer else self.hint
        below.pack(side="left", expand=True)
        self.pace.set(settings.pace.name)
        self._animate(settings)
        self.board.lay_out((settings.rows, settings.columns))
        self.presenter.start(settings)

    def _set_pace(self) -> None:
        """Let the computer play as fast as the buttons below the board say."""
        self.presenter.set_pace(next(pace for pace in PACES if pace.name == self.pace.get()))
        self._animate(self.presenter.settings)

    def _animate(self, settings: Settings) -> None:
        """Let tiles slide so fast that they have arrived before the next move."""
        pause = settings.pace.pause if settings.mover.is_computer else SLIDE_MS * 4
        self.board.slide_ms = min(SLIDE_MS, pause // 4)

    def quit_game(self) -> None:
        """End the game in progress and close the window."""
        self.presenter.quit()
        self.destroy()

    # --- what the presenter asks for ---

    def show(self, scene: Scene) -> None:
        """Show the board, the score and the status."""
        self.status["text"] = scene.status
        colours = (colour for word, colour in LIGHTS.items() if word in scene.status)
        self.light["background"] = next(colours, WAITING)
        self.score.show(scene.score)
        best = self._best[scene.board.shape] = max(scene.score, self._best[scene.board.shape])
        self.best.show(best)
        self.largest.show(scene.board.max_tile)
        self.board.show(scene)

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
