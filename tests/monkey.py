"""Monkey tests: random keys, clicks, drags, texts and sizes at full speed.

They only look for crashes, and count the keys and clicks they send. A drag or a turn of the wheel
counts as a click, a line in line mode as a key. A run is reproducible from its seed, except for the
timing of threads.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import string
import sys
import tempfile
import threading
import tkinter as tk
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.geometry import Size
from textual.pilot import WaitForScreenTimeout

sys.path.append(str(Path(__file__).parent / "server"))  # as in pytest's configuration

from py2048.app.session import Session, open_session
from py2048.presentation.screen import Choice
from tests.server.browser.conftest import CHROMIUMS

QUICK = ("random", "greedy", "corner")
"""Players that answer immediately."""

TEXTS = (
    *("classic:size=5x5", "cits1401", "2x4", "classic:size=0x0", "8x8", "greedy", "corner", "7"),
    *("-1", "random:seed=3", "nobody", "game.2048.json", "no/such/folder/x", "2 4 . 8 / . . . ."),
    *("é∞", ""),
)


MAX_RECORD_BYTES = 50_000
"""Size at which the window's monkey starts a new record, in bytes."""

TIMEOUT_S = 60
"""Timeout of a single browser action."""


class Crash(Exception):  # noqa: N818 - what a monkey looks for
    """A front end crashed."""


class Monkey:
    """Chooses random actions and remembers the last inputs.

    Args:
        seed: Seed of all choices.
        wanted: Number of keys and clicks to send.

    Attributes:
        sent: Number of keys and clicks sent so far.
    """

    def __init__(self, seed: int, wanted: int) -> None:
        self.random = random.Random(seed)
        self.seed, self.wanted, self.sent = seed, wanted, 0
        self.last: deque[str] = deque(maxlen=60)
        self.faults: list[BaseException] = []

    def sends(self, what: object, count: int = 1) -> None:
        """Count keys or clicks."""
        self.sent += count
        self.last.append(str(what))

    def blames(self, fault: BaseException) -> None:
        """Store an error; Playwright requires a plain function as its callback."""
        self.faults.append(fault)

    @property
    def is_tired(self) -> bool:
        """Whether all inputs have been sent."""
        return self.sent >= self.wanted

    def pick(self, weights: Mapping[Any, int]) -> Any:
        """Choose a key at random, by weight."""
        return self.random.choices(list(weights), list(weights.values()))[0]

    def check(self) -> None:
        """Raise `Crash` if any thread has failed."""
        if self.faults:
            told = " ".join(self.last)
            raise Crash(f"seed {self.seed}, input {self.sent}, after: {told}") from self.faults[0]

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record exceptions in threads."""
        before = threading.excepthook
        threading.excepthook = lambda args: self.faults.append(args.exc_value or Crash("thread"))
        try:
            yield
        finally:
            threading.excepthook = before


def table(monkey: Monkey) -> Session:
    """Return a session with a store and fast players."""
    session = open_session()
    session.set_setting("player", monkey.random.choice(QUICK))
    if not session.resume():
        session.start(seed=monkey.seed)
    return session


# --- terminal ------------------------------------------------------------------------------------

TERMINAL_KEYS = {
    **dict.fromkeys(("up", "down", "left", "right"), 60),
    **dict.fromkeys(("w", "a", "s", "d", "h", "j", "k", "l"), 10),
    **dict.fromkeys(("u", "r", "enter", "escape", "y", "n", "tab", "shift+tab"), 15),
    **dict.fromkeys(
        ("m", "g", "p", "f1", "slash", "ctrl+s", "ctrl+o", "question_mark", "space"), 6
    ),
    **dict.fromkeys(("plus", "minus", "t", "x", "pageup", "pagedown", "home", "end", "delete"), 6),
    **dict.fromkeys(("backspace", "ctrl+a", "ctrl+z", "f5", "ctrl+l", "0", "7", "é"), 3),
    **dict.fromkeys(("q", "ctrl+q"), 1),
}
PLAIN = {"question_mark": "?", "plus": "+", "minus": "-", "space": " "}


async def _terminal(monkey: Monkey) -> None:
    from py2048.app.terminal.app import GameApp

    while not monkey.is_tired:
        session = table(monkey)
        app = GameApp(session)
        try:
            async with app.run_test(size=(100, 30)) as pilot:
                while app.is_running and not monkey.is_tired:
                    for _ in range(monkey.random.choice((1, 40, 400))):
                        monkey.pick(_TERMINAL_DEEDS)(monkey, app)
                    with suppress(WaitForScreenTimeout):  # for busy machines
                        await pilot.pause(0)
                    monkey.check()
        except Crash:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a crash
            monkey.faults.append(error)
            monkey.check()
        session.close()


def _mouse(app: Any, kind: Any, x: int, y: int, button: int = 1) -> None:
    app.post_message(kind(None, x, y, 0, 0, button, False, False, False, x, y))


def _place(monkey: Monkey, app: Any, beyond: int = 0) -> tuple[int, int]:
    width, height = app.size
    return monkey.random.randrange(width + 1 + beyond), monkey.random.randrange(height + 1 + beyond)


def _terminal_key(monkey: Monkey, app: Any) -> None:
    key, times = monkey.pick(TERMINAL_KEYS), monkey.random.choice((1, 1, 1, 2))
    plain = PLAIN.get(key, key if len(key) == 1 else None)
    monkey.sends(key, times)
    for _ in range(times):
        app.post_message(events.Key(key, plain))


def _terminal_click(monkey: Monkey, app: Any) -> None:
    place, button = _place(monkey, app), monkey.random.choice((1, 1, 1, 2, 3))
    times = monkey.random.choice((1, 1, 2, 3))
    monkey.sends(f"click {place}", times)
    for _ in range(times):
        _mouse(app, events.MouseDown, *place, button)
        _mouse(app, events.MouseUp, *place, button)


def _terminal_drag(monkey: Monkey, app: Any) -> None:
    monkey.sends("drag")
    _mouse(app, events.MouseDown, *_place(monkey, app))
    _mouse(app, events.MouseMove, *_place(monkey, app, 9))
    _mouse(app, events.MouseUp, *_place(monkey, app, 9))


def _terminal_wheel(monkey: Monkey, app: Any) -> None:
    monkey.sends("wheel")
    kind = monkey.random.choice((events.MouseScrollDown, events.MouseScrollUp))
    _mouse(app, kind, *_place(monkey, app), 0)


def _terminal_text(monkey: Monkey, app: Any) -> None:
    text = monkey.random.choice(TEXTS)
    monkey.sends(f"text {text!r}", len(text) + 1)
    for letter in text:
        app.post_message(events.Key(letter, letter))
    app.post_message(events.Key("enter", "\r"))


def _terminal_size(monkey: Monkey, app: Any) -> None:
    size = Size(monkey.random.choice((1, 9, 20, 40, 80, 140)), monkey.random.choice((1, 5, 24, 50)))
    monkey.sends(size, 0)
    app.post_message(events.Resize(size, size))


_TERMINAL_DEEDS: dict[Callable[[Monkey, Any], None], int] = {
    _terminal_key: 80,
    _terminal_click: 12,
    _terminal_drag: 3,
    _terminal_wheel: 2,
    _terminal_text: 2,
    _terminal_size: 1,
}


# --- line mode -----------------------------------------------------------------------------------

WORDS = (
    *("left", "right", "up", "down", "l", "r", "u", "d", "undo", "redo", "board", "score", "hint"),
    *("auto 3", "auto x", "new", "yes", "no", "resume", "rules", "help", "new 3x3", "resume 8x8"),
    *("save game.2048.json", "save no/such/folder/x", "quit", "new classic:size=0x9", "HINT", "  "),
)


def _lines(monkey: Monkey) -> None:
    from py2048.app.terminal.plain_text import PlainTextGame

    session = table(monkey)
    mode = PlainTextGame(session, lambda line: line.encode(), None)
    while not monkey.is_tired:
        line = monkey.random.choice(WORDS)
        if monkey.random.random() < 0.1:
            line = "".join(monkey.random.choices(string.printable + "é∞\0", k=9))
        monkey.sends(line)
        try:
            mode.execute(line)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a crash
            monkey.faults.append(error)
        monkey.check()
    session.close()


# --- window --------------------------------------------------------------------------------------

WINDOW_KEYS = {
    **dict.fromkeys(("Up", "Down", "Left", "Right"), 60),
    **dict.fromkeys(("w", "a", "s", "d", "h", "j", "k", "l", "KP_Up"), 10),
    **dict.fromkeys(("u", "r", "Return", "Escape", "y", "n", "Tab", "ISO_Left_Tab"), 15),
    **dict.fromkeys(
        ("m", "g", "e", "v", "i", "p", "F1", "slash", "question", "space", "x", "t"), 6
    ),
    **dict.fromkeys(("plus", "minus", "Prior", "Next", "Home", "End", "Delete", "BackSpace"), 4),
    **dict.fromkeys(("Control-s", "Control-o", "Control-e", "Control-c", "Control-v", "F11"), 3),
    **dict.fromkeys(("0", "7", "eacute", "Control-z", "Control-y", "Alt-x", "F10"), 2),
    "q": 1,
}


def _desktop(monkey: Monkey) -> None:
    from py2048.app.desktop import dialogs
    from py2048.app.desktop.launch import GameWindow

    record = Path("game.2048.json")

    def choose(*_: object) -> Path | None:
        if record.exists() and record.stat().st_size > MAX_RECORD_BYTES:
            record.unlink()  # the record would grow without limit
        return monkey.random.choice((record, Path("board.png"), Path("no/such/folder/x"), None))

    closed = []  # kept, because this thread must free Tk objects (like `desktop.run`)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dialogs, "ask_file", choose)  # the system's dialogs wait for a person
        while not monkey.is_tired:
            session = table(monkey)
            running = GameWindow(lambda session=session: session)
            closed.append(running)
            running.first_frame()
            running.finish_opening()
            _haunt(monkey, running)
            running.close()
            monkey.check()
            session.close()


def _haunt(monkey: Monkey, running: Any) -> None:
    """Perform actions in the window's event loop."""
    root = running.root

    def fail(_kind: object, error: BaseException, _trace: object) -> None:
        monkey.faults.append(error)

    def act() -> None:
        try:
            for _ in range(monkey.random.choice((1, 9, 60, 300))):
                if not running.is_closed:
                    _deed_in_window(monkey, root)
        finally:
            if running.is_closed or monkey.is_tired or monkey.faults:
                root.quit()
            else:
                root.after(1, act)

    root.report_callback_exception = fail
    root.after(1, act)
    root.mainloop()


def _deed_in_window(monkey: Monkey, root: tk.Tk) -> None:
    try:
        monkey.pick(_WINDOW_DEEDS)(monkey, root)
    except tk.TclError as error:
        # Widgets may already be gone or hidden, which is not an error of the window.
        monkey.last.append(f"({error})")


def _press(monkey: Monkey, root: tk.Tk) -> None:
    key, times = monkey.pick(WINDOW_KEYS), monkey.random.choice((1, 1, 1, 2))
    monkey.sends(key, times)
    target = root.tk.call("focus") or "."  # tkinter does not know all Tk widgets by name
    when = monkey.random.choice(("now", "tail"))
    event = f"<{key}>" if "-" in key else f"<KeyPress-{key}>"
    for _ in range(times):
        root.tk.call("event", "generate", target, event, "-when", when)


def _widgets(root: tk.Tk, kind: type[tk.Misc]) -> list[Any]:
    """Return all widgets of a type in a window."""
    found: list[Any] = [root]
    for widget in found:
        found += widget.winfo_children()
    return [each for each in found if isinstance(each, kind)]


def _some_widget(monkey: Monkey, root: tk.Tk, kind: type[tk.Misc] = tk.Misc) -> Any:
    seen = [each for each in _widgets(root, kind) if each.winfo_viewable()]
    top = [each for each in seen if each.winfo_toplevel() is not root]
    if not seen:
        raise tk.TclError("nothing to be seen")
    return monkey.random.choice(top if top and monkey.random.random() < 0.7 else seen)


def _click(monkey: Monkey, root: tk.Tk) -> None:
    widget = _some_widget(monkey, root)
    button = monkey.random.choice((1, 1, 1, 2, 3, 4, 5))  # the last two are the mouse wheel
    times = monkey.random.choice((1, 1, 2, 3))
    monkey.sends(f"click {widget}", times)
    x = monkey.random.randrange(max(1, widget.winfo_width()))
    y = monkey.random.randrange(max(1, widget.winfo_height()))
    for _ in range(times):
        widget.event_generate(f"<ButtonPress-{button}>", x=x, y=y, when="tail")
        widget.event_generate(f"<ButtonRelease-{button}>", x=x, y=y, when="tail")


def _drag(monkey: Monkey, root: tk.Tk) -> None:
    widget = _some_widget(monkey, root)
    places = [(monkey.random.randrange(400), monkey.random.randrange(400)) for _ in range(3)]
    kinds = ("<ButtonPress-1>", "<B1-Motion>", "<ButtonRelease-1>")
    monkey.sends(f"drag {widget}")
    for kind, (x, y) in zip(kinds, places, strict=True):
        widget.event_generate(kind, x=x, y=y, when="tail")


def _type(monkey: Monkey, root: tk.Tk) -> None:
    entry = _some_widget(monkey, root, tk.Entry)
    entry.delete(0, "end")
    entry.insert(0, monkey.random.choice(TEXTS))
    monkey.sends(f"text {entry}", 2)
    entry.event_generate("<KeyRelease>", keysym="End", when="tail")
    entry.event_generate("<KeyPress-Return>", when="tail")


def _push_button(monkey: Monkey, root: tk.Tk) -> None:
    widget = _some_widget(monkey, root)
    if hasattr(widget, "invoke") and not isinstance(widget, tk.Menu):
        times = monkey.random.choice((1, 1, 2))
        monkey.sends(f"button {widget}", times)
        for _ in range(times):
            widget.invoke()


def _choose_from_menu(monkey: Monkey, root: tk.Tk) -> None:
    menus = [each for each in _widgets(root, tk.Menu) if each.index("end") is not None]
    menu = monkey.random.choice(menus)
    line = monkey.random.randrange(menu.index("end") + 1)
    label = menu.entrycget(line, "label")
    if "animation …" not in label:  # rendering a film of a long game takes minutes
        monkey.sends(f"menu {label}")
        menu.invoke(line)


def _resize(monkey: Monkey, root: tk.Tk) -> None:
    width, height = (monkey.random.choice((1, 100, 240, 480, 1200)) for _ in range(2))
    monkey.sends(f"{width}x{height}", 0)
    root.geometry(f"{width}x{height}")


_WINDOW_DEEDS: dict[Callable[[Monkey, tk.Tk], None], int] = {
    _press: 80,
    _click: 12,
    _drag: 3,
    _type: 2,
    _choose_from_menu: 2,
    _resize: 1,
    _push_button: 6,
}


# --- browser -------------------------------------------------------------------------------------

BROWSER_KEYS = {
    **dict.fromkeys(("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"), 60),
    **dict.fromkeys(("w", "a", "s", "d", "h", "j", "k", "l"), 10),
    **dict.fromkeys(("u", "r", "Enter", "Escape", "y", "n", "Tab", "Shift+Tab"), 15),
    **dict.fromkeys(("m", "p", "?", "Space", "+", "-", "t", "x", "PageDown", "Home", "End"), 6),
    **dict.fromkeys(("Backspace", "Delete", "F1", "q", "7", "é", "Control+a"), 3),
}


async def _web(monkey: Monkey) -> None:
    from playwright.async_api import Error, async_playwright

    from tests.server.browser.visiting import Server

    found = next(path for name in CHROMIUMS if (path := shutil.which(name)))
    server = Server(Path("web"))
    server.start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            page = await _new_page(monkey, browser)
            while not monkey.is_tired:
                if not page.url.startswith(server.url):
                    await page.goto(server.url)
                try:
                    async with asyncio.timeout(TIMEOUT_S):
                        await _deed_in_browser(monkey, page)
                except TimeoutError:  # Chromium never reports input on a page that is being closed
                    monkey.last.append("(no answer)")
                    async with asyncio.timeout(TIMEOUT_S):  # a hanging page is an error
                        await page.evaluate("0")
                    page = await _new_page(monkey, browser)
                except Error as error:  # the page may close under the click, which is not an error
                    monkey.last.append(f"({str(error).splitlines()[0]})")
                monkey.check()
            await browser.close()
    finally:
        server.stop()


async def _new_page(monkey: Monkey, browser: Any) -> Any:
    page = await browser.new_page(has_touch=True)
    page.on("pageerror", monkey.blames)
    page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.dismiss()))
    page.on("response", lambda answer: _judge(monkey, answer))
    return page


def _judge(monkey: Monkey, answer: Any) -> None:
    if answer.status >= 500:
        monkey.faults.append(Crash(f"{answer.status} from {answer.url}"))


BROWSER_DEEDS = {"key": 80, "click": 12, "tap": 6, "text": 2, "size": 1, "go": 1}


async def _deed_in_browser(monkey: Monkey, page: Any) -> None:
    what = monkey.pick(BROWSER_DEEDS)
    if what == "key":
        key = monkey.pick(BROWSER_KEYS)
        monkey.sends(key)
        await page.keyboard.press(key)
    elif what == "click":
        times = monkey.random.choice((1, 1, 2))
        x, y = (monkey.random.randrange(side) for side in page.viewport_size.values())
        monkey.sends(f"click {x} {y}", times)
        await page.mouse.click(x, y, click_count=times)
    elif what == "tap":
        x, y = (monkey.random.randrange(side) for side in page.viewport_size.values())
        monkey.sends(f"tap {x} {y}")
        await page.touchscreen.tap(x, y)
    elif what == "text":
        text = monkey.random.choice(TEXTS)
        monkey.sends(f"text {text!r}", len(text) + 1)
        await page.keyboard.type(text)
        await page.keyboard.press("Enter")
    elif what == "size":
        width, height = monkey.random.choice((320, 740, 1280)), monkey.random.randrange(200, 1100)
        monkey.sends(f"{width}x{height}", 0)
        await page.set_viewport_size({"width": width, "height": height})
    else:
        monkey.sends("go")
        path = monkey.random.choice(
            ("", "leaderboards", "daily", "puzzle", "live", "battle", "about", "account", "no/such")
        )
        if monkey.random.random() < 0.3:
            await page.reload()
        else:
            await page.goto("/".join([*page.url.split("/", 3)[:3], path]))


FRONT_ENDS: dict[str, Callable[[Monkey], None]] = {
    "terminal": lambda monkey: asyncio.run(_terminal(monkey)),
    "lines": _lines,
    "desktop": _desktop,
    "web": lambda monkey: asyncio.run(_web(monkey)),
}


def let_loose(front_end: str, wanted: int, seed: int) -> int:
    """Run a monkey on a front end with a temporary data folder; return the number of inputs sent.

    Args:
        front_end: A key of `FRONT_ENDS`.
        wanted: Number of inputs to send.
        seed: Seed of the choices.

    Raises:
        Crash: If the front end crashes; the message says how to reproduce it.
    """
    monkey = Monkey(seed, wanted)
    with tempfile.TemporaryDirectory() as folder, monkey.listening():
        before = Path.cwd()
        os.chdir(folder)
        try:
            with pytest.MonkeyPatch.context() as patch:
                quick = [Choice(each, each) for each in QUICK]
                patch.setattr("py2048.app.controller.controller.PLAYERS", quick)
                FRONT_ENDS[front_end](monkey)
        finally:
            os.chdir(before)
    monkey.check()
    return monkey.sent
