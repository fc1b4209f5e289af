"""The game window, which draws its first frame before the store is opened."""

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

from py2048.app.desktop import NoDesktopError
from py2048.app.desktop.window import MIN_HEIGHT, MIN_WIDTH, MainWindow, opening_size
from py2048.core.errors import StorageError
from py2048.core.language import LANGUAGES, _, set_language
from py2048.presentation.screen import Status
from py2048.presentation.themes import BY_NAME, DEFAULT_THEME, Theme, get_theme

if TYPE_CHECKING:
    from py2048.app.controller.controller import ScreenOptions
    from py2048.app.desktop.app import DesktopApp
    from py2048.app.session import Session

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Signals that close the window. Windows has no SIGHUP.
SIGNAL_POLL_MS = 400

NO_FONTS = "no window can be opened: no fonts are installed (sudo apt install fonts-dejavu-core)"

ICON_SIDES = (128, 64, 32, 16)


class GameWindow:
    """The window of a game. The arguments are those of `py2048.app.desktop.run`.

    Attributes:
        root: The Tk window.
        window: The widgets.
        app: The application, or None until the session is open.
        is_closed: Whether the window was closed.
    """

    def __init__(
        self,
        open_session: Callable[[], Session],
        state_file: Path | None = None,
        **options: Unpack[ScreenOptions],
    ) -> None:
        self._open_session, self._options = open_session, options
        self._state = WindowState(state_file)
        self._session: Session | None = None
        self._early_keys: list[tk.Event[tk.Misc]] = []
        self.is_closed = False
        self._signal = 0
        self._error: BaseException | None = None
        self.app: DesktopApp | None = None
        name = options.get("theme")
        theme = get_theme(name) if name else BY_NAME.get(self._state.get("theme"))
        if (language := self._state.get("language")) in LANGUAGES:
            set_language(language)
        self.root = _open_root()
        self.root.report_callback_exception = self._on_error
        self._set_up(theme or DEFAULT_THEME)

    def _set_up(self, theme: Theme) -> None:
        root = self.root
        root.title("2048")
        scale = _scale(root)
        root.minsize(*_on_screen(root, MIN_WIDTH * scale, MIN_HEIGHT * scale))
        width, height = _on_screen(root, *opening_size(root.winfo_screenheight(), scale))
        root.geometry(usable_geometry(root, self._state.get("geometry")) or f"{width}x{height}")
        self.window = MainWindow(root, theme, scale, self._do)
        root.bind("<Key>", self._press)
        root.bind("<<Quit>>", lambda _: self.close())
        root.protocol("WM_DELETE_WINDOW", self.close)
        if self._options.get("begin") is None:
            with suppress(AttributeError, LookupError, TypeError, ValueError):
                rows, status = json.loads(self._state.get("last"))
                self.window.board.preview([[int(tile) for tile in row] for row in rows])
                self.window.show_status(Status(*status), is_playing=False)

    def first_frame(self) -> None:
        """Draw the window's first frame."""
        self.root.update()

    def finish_opening(self) -> None:
        """Open the session and set the window's icon."""
        fault = ""
        try:
            session = self._open_session()
        except StorageError as error:
            from py2048.app.session import Session

            session, fault = Session(), str(error)
        self._session = session
        self._open(session)
        if fault:
            self.window.warn(_("{fault}; this game will not be saved").format(fault=fault))
        _set_icon(self.root)

    def _open(self, session: Session) -> None:
        from py2048.app.desktop.app import DesktopApp  # slow; imported after the first frame

        options, theme = self._options, BY_NAME.get(str(session.get_setting("theme", "")))
        if not options.get("theme") and theme is not None and theme != self.window.look.theme:
            self.window.set_theme(theme)
        self.app = app = DesktopApp(self.window, session, self._state.set, options)
        app.controller.begin(options.get("begin"))
        for event in self._early_keys:
            app.press(event)
        self._early_keys.clear()

    def run(self) -> int:
        """Play until the player or a signal closes the window, and return the exit status.

        Raises:
            Exception: The first exception that a Tk callback raised. It also closes the window.
        """
        try:
            with self._deferred_signals():
                self.first_frame()
                self.root.after_idle(self.finish_opening)
                self._poll_signals()
                self.root.mainloop()
        finally:
            self.close()
            if self._session is not None:
                self._session.close()
        if self._error is not None:
            raise self._error
        return 128 + self._signal if self._signal else 0

    @contextmanager
    def _deferred_signals(self) -> Iterator[None]:
        """Record signals instead of exiting, so that pending changes can still be saved."""

        def record(number: int, _: object) -> None:
            self._signal = number

        handlers: dict[int, Any] = {}
        for name in SIGNALS if threading.current_thread() is threading.main_thread() else ():
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                handlers[number] = signal.signal(number, record)
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _poll_signals(self) -> None:
        """Close the window after a signal. Signals are polled because Tk delays their handlers."""
        if not self._signal:
            self.root.after(SIGNAL_POLL_MS, self._poll_signals)
            return
        # An open Tk file dialog would outlive the window. Setting this variable closes it.
        self.root.setvar("::tk::Priv(selectFilePath)", "")
        self.root.after(1, self.close)  # `after_idle` might run during layout

    def close(self) -> None:
        """Close the window and cancel its timers."""
        root, app = self.root, self.app
        if self.is_closed:
            return
        self.is_closed = True
        if app is not None:
            app.close()
        for timer in root.tk.splitlist(root.tk.call("after", "info")):
            root.tk.call("after", "cancel", timer)
        root.quit()  # `destroy` alone does not end the main loop if other windows are open
        root.destroy()

    def _press(self, event: tk.Event[tk.Misc]) -> str | None:
        if self.app is None:
            self._early_keys.append(event)
            return None
        return self.app.press(event)

    def _do(self, name: str) -> None:
        if self.app is not None:
            self.app.controller.do(name)

    def _on_error(self, _kind: object, error: BaseException, _trace: object) -> None:
        """Close the window and let `run` raise the exception, which Tk would only print."""
        self._error = self._error or error
        self.close()


class WindowState:
    """Keeps window settings in a JSON file, because the file loads faster than the store.

    A missing or damaged file is treated as empty.

    Args:
        path: The file, or `None` to save nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._values: dict[str, object] = {}
        if path is not None:
            with suppress(OSError, ValueError):
                values = json.loads(path.read_text(encoding="utf-8"))
                self._values = values if isinstance(values, dict) else {}

    def get(self, key: str) -> str:
        """Return a setting, or "" if it is missing."""
        return str(self._values.get(key, ""))

    def set(self, **values: str) -> None:
        """Save values, ignoring write errors."""
        if self._path is None or values.items() <= self._values.items():
            return
        self._values |= values
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self._values), encoding="utf-8")


def _open_root() -> tk.Tk:
    if sys.platform == "win32":  # prevents Windows from scaling the window as a bitmap
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
    """Return the scale factor of the screen, relative to 96 dpi."""
    requested = 1.0
    with suppress(ValueError):
        requested = float(os.environ.get("GDK_SCALE", "1"))
    scale = min(4.0, max(1.0, requested, root.winfo_fpixels("1i") / 96))
    return scale if scale > 1.15 else 1.0  # many 96 dpi screens report 100 dpi


def _on_screen(root: tk.Tk, width: float, height: float) -> tuple[int, int]:
    """Limit a window's size, leaving room for its title bar and the taskbar."""
    max_width, max_height = root.winfo_screenwidth() * 0.96, root.winfo_screenheight() * 0.9
    return round(min(max_width, width)), round(min(max_height, height))


def usable_geometry(root: tk.Tk, geometry: str) -> str:
    """Fit a saved geometry to the screen, or return "" if it is off-screen or invalid."""
    found = re.fullmatch(r"(\d+)x(\d+)(\+(\d+)\+(\d+))?", geometry)
    if found is None:
        return ""
    width, height, x, y = (int(found[group] or 0) for group in (1, 2, 4, 5))
    screen_width, screen_height = root.winfo_screenwidth(), root.winfo_screenheight()
    is_visible = 0 <= x < screen_width - 50 and 0 <= y < screen_height - 50
    if not is_visible or width < MIN_WIDTH or height < MIN_HEIGHT:
        return ""
    width, height = _on_screen(root, width, height)
    if not found[3]:
        return f"{width}x{height}"
    return f"{width}x{height}+{min(x, screen_width - width)}+{min(y, screen_height - height)}"


def _set_icon(root: tk.Tk) -> None:
    from py2048.presentation.board_image import encode, icon

    icons = (encode(icon(side, DEFAULT_THEME)) for side in ICON_SIDES)
    root.iconphoto(True, *(tk.PhotoImage(master=root, data=each) for each in icons))
