"""The viewer: a record move by move, with a slider and keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from tkinter import ttk

from py2048.game import Record
from py2048.session import Moved, Replay, Undone
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.desktop.keys import tk_keys
from py2048.ui.desktop.window import MainWindow
from py2048.ui.shared import motion
from py2048.ui.shared.actions import BY_NAME
from py2048.ui.shared.background import SPEEDS, START_SPEED
from py2048.ui.shared.describe import describe
from py2048.ui.shared.review import record_title

PAGE = 10
"""How many moves Page Up and Page Down skip."""

REPLAY_SPEEDS = SPEEDS[:-1]


class ReplayWindow(Dialog):
    """Walks through a record.

    Args:
        window: the main window.
        record: the game.
        play_from: called with a number of turns, to continue the game from there.
        review: opens the review of the game.
        is_animated: whether tiles slide or jump.

    Raises:
        RecordError: if the record breaks its own rules.
    """

    def __init__(
        self,
        window: MainWindow,
        record: Record,
        play_from: Callable[[int], object],
        review: Callable[[], object],
        is_animated: bool,
    ) -> None:
        self.replay = Replay(record)
        super().__init__(window, "Watch a game")
        self._play_from = play_from
        self._is_animated = is_animated
        self._timer = ""
        self.add_text(record_title(record), "Muted.TLabel")
        self.add_buttons(
            ("Play on from here", self._play_from_here),
            ("Review", lambda: self.close_and(review)),
            ("Close", self.close),
        )
        self.line = self.add_text(below=True)
        self._add_controls()
        self.view = self.add_board(400)
        self._bind_events()
        self._jump(0)
        self.open(self.view)

    def _add_controls(self) -> None:
        row = ttk.Frame(self.body)
        row.pack(side="bottom", fill="x", pady=4)
        self.buttons = {}
        for text, action in (
            ("|<", lambda: self.seek(0)),
            ("<", self.back),
            ("Play", self.toggle),
            (">", self.forward),
            (">|", lambda: self.seek(len(self.replay))),
        ):
            button = ttk.Button(row, text=text, command=action, style="Tool.TButton")
            button.pack(side="left", expand=True, fill="x", padx=2)
            self.buttons[text] = button
        ttk.Label(row, text="Speed").pack(side="left", padx=(8, 2))
        self.speed = ttk.Combobox(row, values=[*map(str, REPLAY_SPEEDS)], width=3, state="readonly")
        self.set_speed(START_SPEED)
        self.speed.bind("<<ComboboxSelected>>", lambda _: self.set_speed(int(self.speed.get())))
        self.speed.pack(side="left")
        self.slider = ttk.Scale(self.body, from_=0, to=max(1, len(self.replay)))
        self.slider.configure(command=lambda value: self._slide(round(float(value))))
        self.slider.pack(side="bottom", fill="x")

    def _bind_events(self) -> None:
        keys: dict[str, Callable[[], object]] = {
            "Left": self.back,
            "Right": self.forward,
            "Home": lambda: self.seek(0),
            "End": lambda: self.seek(len(self.replay)),
            "Prior": lambda: self.seek(self.replay.index - PAGE),
            "Next": lambda: self.seek(self.replay.index + PAGE),
            "space": self.toggle,
        }
        for name, step in (("faster", 1), ("slower", -1)):
            keys |= dict.fromkeys(tk_keys(BY_NAME[name]), partial(self._change_speed, step))
        for key, action in keys.items():
            self.view.bind(f"<{key}>", lambda _, action=action: action())  # type: ignore[misc]
        for key in "qQ":
            self.bind(key, lambda _: self.close())

    # Walking

    def forward(self) -> None:
        """Go one turn forward."""
        event = self.replay.forward()
        if event is None:
            self.pause()
        else:
            self._show(event, motion.of_move(event))

    def back(self) -> None:
        """Go one turn back."""
        self.pause()
        event = self.replay.back()
        if event is not None:
            self._show(event, motion.of_undo(event))

    def seek(self, index: int) -> None:
        """Go to the place after so many turns."""
        self.pause()
        self._jump(index)

    def _jump(self, index: int) -> None:
        position = self.replay.seek(index)
        self.view.show(motion.BoardTransition((), position.board), 0)
        self._show_place("")

    def _show(self, event: Moved | Undone, transition: motion.BoardTransition) -> None:
        pace = 1.0 if self._is_animated else 0.0
        if self._timer and transition.seconds:
            pace = min(pace, 1 / self._speed / transition.seconds)
        self.view.show(transition, pace)
        self._show_place(describe(event))

    def _show_place(self, text: str) -> None:
        index, score = self.replay.index, self.replay.position.score
        self.slider.configure(value=index)
        place = f"Move {index} of {len(self.replay)}, score {score:,}."
        self.line.configure(text=f"{place} {text}")

    def _slide(self, index: int) -> None:
        if index != self.replay.index:
            self.seek(index)

    # Playing

    def toggle(self) -> None:
        """Let it run, or pause it."""
        if self._timer:
            self.pause()
            return
        if self.replay.index == len(self.replay):
            self._jump(0)
        self.buttons["Play"].configure(text="Pause")
        self._run()

    def _run(self) -> None:
        self._timer = self.after(round(1000 / self._speed), self._run)
        self.forward()

    def pause(self) -> None:
        """Stop running."""
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""
            self.buttons["Play"].configure(text="Play")

    def set_speed(self, speed: int) -> None:
        """Run so many moves a second."""
        self._speed = speed
        self.speed.set(str(speed))

    def _change_speed(self, step: int) -> None:
        index = REPLAY_SPEEDS.index(self._speed) + step
        self.set_speed(REPLAY_SPEEDS[min(max(index, 0), len(REPLAY_SPEEDS) - 1)])

    def _play_from_here(self) -> None:
        index = self.replay.index
        self.close_and(lambda: self._play_from(index))

    def close(self) -> None:
        """Close the viewer, running or not."""
        if self.winfo_exists():
            self.pause()
        super().close()
