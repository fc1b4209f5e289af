"""Opening the window: the first frame comes before the store is opened."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import tkinter as tk
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from py2048.app.desktop import NoDesktopError, WindowOptions
from py2048.app.desktop.window import HEIGHT, MIN_HEIGHT, MIN_WIDTH, WIDTH, MainWindow
from py2048.core.errors import StorageError
from py2048.core.language import LANGUAGES, _, set_language
from py2048.presentation.themes import BY_NAME, DEFAULT_THEME, Theme, get_theme

if TYPE_CHECKING:
    from py2048.app.desktop.app import DesktopApp
    from py2048.app.session import Session

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that close the window; Windows has no SIGHUP."""

SIGNAL_PERIOD_MS = 400
"""Milliseconds in which a signal to the process is noticed."""

NO_FONTS = "no window can be opened: no fonts are installed (sudo apt install fonts-dejavu-core)"

ICON_SIDES = (128, 64, 32, 16)


class GameWindow:
    """A window with a game in it: it opens before the store, and closes whatever happens.

    `py2048.app.desktop.run` says what the session and the options are.

    Attributes:
        root: the window.
        app: the application, once the session is open.
        is_closed: whether the window was closed.
    """

    def __init__(
        self, session: Session | Callable[[], Session], **options: Unpack[WindowOptions]
    ) -> None:
        self._session, self._options = session, options
        self._state = WindowState(options.get("state_file"))
        self._opened: Session | None = None
        self._pressed: list[tk.Event[tk.Misc]] = []
        self.is_closed = False
        self._signal = 0
        self._error: BaseException | None = None
        self.app: DesktopApp | None = None
        name = options.get("theme")
        theme = get_theme(name) if name else BY_NAME.get(self._state.get("theme"))
        if (chosen := self._state.get("language")) in LANGUAGES:
            set_language(chosen)
        self.root = _open_root()
        self.root.report_callback_exception = self._fail
        self._set_up(theme or DEFAULT_THEME)

    def _set_up(self, theme: Theme) -> None:
        root = self.root
        root.title("2048")
        scale = _scale(root)
        room = _room(root)
        root.minsize(*_within(room, MIN_WIDTH * scale, MIN_HEIGHT * scale))
        width, height = _within(room, WIDTH * scale, HEIGHT * scale)
        root.geometry(usable_geometry(root, self._state.get("geometry")) or f"{width}x{height}")
        self.window = MainWindow(root, theme, scale, self._act)
        root.bind("<Key>", self._press)
        root.bind("<<Quit>>", lambda _: self.close())
        root.protocol("WM_DELETE_WINDOW", self.close)
        if not callable(self._session):
            self._open(self._session)

    def first_frame(self) -> None:
        """Draw the window."""
        self.root.update()

    def finish_opening(self) -> None:
        """Open the session, if it is not open yet, and do what may come after the first frame."""
        if callable(self._session) and self.app is None:
            fault = ""
            try:
                self._opened = self._session()
            except StorageError as error:
                from py2048.app.session import Session

                self._opened, fault = Session(), str(error)
            self._open(self._opened)
            if fault:
                self.window.warn(_("{fault}; this game is not kept").format(fault=fault))
        _set_icon(self.root)

    def _open(self, session: Session) -> None:
        from py2048.app.desktop.app import DesktopApp  # the first frame does not wait for it

        options, chosen = self._options, BY_NAME.get(str(session.get_setting("theme", "")))
        if not options.get("theme") and chosen is not None and chosen != self.window.theme:
            self.window.set_theme(chosen)
        self.app = app = DesktopApp(
            self.window,
            session,
            self._state.set,
            reduced_motion=options.get("reduced_motion", False),
            player=options.get("player"),
        )
        app.controller.begin(options.get("begin"))
        for event in self._pressed:
            app.press(event)
        self._pressed.clear()

    def run(self) -> int:
        """Play until the window is closed, or a signal closes it; return the exit status.

        Raises:
            Exception: an error in the window, after it was closed.
        """
        try:
            with self._taking_signals():
                self.first_frame()
                self.root.after_idle(self.finish_opening)
                self._notice_signals()
                self.root.mainloop()
        finally:
            self.close()
            if self._opened is not None:
                self._opened.close()
        if self._error is not None:
            raise self._error
        return 128 + self._signal if self._signal else 0

    @contextmanager
    def _taking_signals(self) -> Iterator[None]:
        """Remember a signal instead of ending at once: what is not saved yet would be lost."""

        def remember(number: int, _: object) -> None:
            self._signal = number

        before: dict[int, Any] = {}
        for name in SIGNALS if threading.current_thread() is threading.main_thread() else ():
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, remember)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _notice_signals(self) -> None:
        """Close the window after a signal; Python sees one only while it runs."""
        if not self._signal:
            self.root.after(SIGNAL_PERIOD_MS, self._notice_signals)
            return
        # Tk's own file dialog waits for this variable, in a loop that outlives the window.
        self.root.setvar("::tk::Priv(selectFilePath)", "")
        self.root.after(1, self.close)  # not when idle, which is also in the middle of a layout

    def close(self) -> None:
        """Close the window, whatever it is doing."""
        root, app = self.root, self.app
        if self.is_closed:
            return
        self.is_closed = True
        if app is not None:
            app.close()
        for timer in root.tk.splitlist(root.tk.call("after", "info")):
            root.tk.call("after", "cancel", timer)  # whichever widget it belongs to
        root.quit()  # Tk's loop ends by itself only after the last window of the process
        root.destroy()

    def _press(self, event: tk.Event[tk.Misc]) -> str | None:
        if self.app is None:
            self._pressed.append(event)  # handled as soon as the session is open
            return None
        return self.app.press(event)

    def _act(self, name: str) -> None:
        if self.app is not None:
            self.app.controller.do(name)

    def _fail(self, _kind: object, error: BaseException, _trace: object) -> None:
        """End the window; `run` raises the error, which must not hide in a half-working window."""
        self._error = self._error or error
        self.close()


class WindowState:
    """A few values in a file that is read before the store opens, so that the first frame is early.

    A lost or damaged file only costs these values.

    Args:
        path: the file; `None` remembers nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._values: dict[str, object] = {}
        if path is not None:
            with suppress(OSError, ValueError):
                values = json.loads(path.read_text(encoding="utf-8"))
                self._values = values if isinstance(values, dict) else {}

    def get(self, key: str, default: str = "") -> str:
        """Return a remembered value, or `default`."""
        return str(self._values.get(key, default))

    def set(self, **values: str) -> None:
        """Remember values; one that cannot be written is forgotten with the process."""
        if self._path is None or values.items() <= self._values.items():
            return
        self._values |= values
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._values), encoding="utf-8")


def _open_root() -> tk.Tk:
    if sys.platform == "win32":  # Windows must be told that we scale ourselves
        import ctypes

        ctypes.windll.shcore.SetProcessDpiAwareness(1)
    try:
        root = tk.Tk(className="Py2048")
    except tk.TclError as error:
        raise NoDesktopError(f"no window can be opened: {error}") from None
    try:
        root.tk.call("font", "actual", "TkDefaultFont")
    except tk.TclError:
        root.destroy()
        raise NoDesktopError(NO_FONTS) from None
    return root


def _scale(root: tk.Tk) -> float:
    """Return how many pixels of this screen are one of an ordinary screen of 96 dots an inch."""
    wanted = 1.0
    with suppress(ValueError):
        wanted = float(os.environ.get("GDK_SCALE", "1"))
    scale = min(4.0, max(1.0, wanted, root.winfo_fpixels("1i") / 96))
    return scale if scale > 1.15 else 1.0  # many screens report 100 dots for 96


def _room(root: tk.Tk) -> tuple[int, int]:
    """Return the width and height for a window: of the screen what its frame and bars leave."""
    return round(root.winfo_screenwidth() * 0.96), round(root.winfo_screenheight() * 0.9)


def _within(room: tuple[int, int], width: float, height: float) -> tuple[int, int]:
    return min(room[0], round(width)), min(room[1], round(height))


def usable_geometry(root: tk.Tk, geometry: str) -> str:
    """Return a remembered geometry, cut to the screen, if the window would be seen there."""
    found = re.fullmatch(r"(\d+)x(\d+)(\+(\d+)\+(\d+))?", geometry)
    if found is None:
        return ""
    width, height, x, y = (int(found[group] or 0) for group in (1, 2, 4, 5))
    is_seen = 0 <= x < root.winfo_screenwidth() - 50 and 0 <= y < root.winfo_screenheight() - 50
    if not is_seen or width < MIN_WIDTH or height < MIN_HEIGHT:
        return ""
    width, height = _within(_room(root), width, height)
    if not found[3]:
        return f"{width}x{height}"
    x, y = min(x, root.winfo_screenwidth() - width), min(y, root.winfo_screenheight() - height)
    return f"{width}x{height}+{x}+{y}"


def _set_icon(root: tk.Tk) -> None:
    from py2048.presentation.board_image import encode, icon

    icons = (encode(icon(side, DEFAULT_THEME)) for side in ICON_SIDES)
    root.iconphoto(True, *(tk.PhotoImage(master=root, data=each) for each in icons))
