"""Take screenshots of every screen of the web, the window and the terminal.

Every screen shows the same game, in several sizes and themes. The screenshots, and a page that
lists them, are written to a folder:

    make looks
    make looks ARGS="build/looks --match 'web (ranks|play) phone'"
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import multiprocessing
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
import tkinter as tk
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from html import escape
from http.cookies import SimpleCookie
from itertools import product
from multiprocessing import Process
from multiprocessing.managers import ListProxy
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Error, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / each) for each in ("server", "app/storage"))]

from py2048 import Game, get_rules, make_player  # noqa: E402 - after the path
from py2048.app.session import Session, open_session  # noqa: E402
from py2048.app.storage import GameChange, open_store  # noqa: E402
from py2048.app.storage.records import enter_records  # noqa: E402
from py2048.app.storage.schema import accounts, records, rounds  # noqa: E402
from py2048.core.fairness import draws_of  # noqa: E402
from py2048.core.game.turn import encode_turn  # noqa: E402
from py2048.core.language import LANGUAGES, set_language  # noqa: E402

MIDDLE = 498
"""The move at which most screenshots are taken; the game is lost soon after."""
ME, NEWCOMER = "lena_k", "new_here"
RIVALS = ("ada_l", "edsger_d", "grace_h", "marisol", "tobi_w", "quince", "h.ito")
SECRET = "2048" * 16
IN_DOCS = {
    "desktop-light": "window play usual light", "desktop-dark": "window play usual dark",
    "desktop-review": "window review usual light", "web-light": "web play laptop light",
    "web-dark": "web play laptop dark", "terminal-light": "terminal hint 80x24 24bit light",
    "terminal-dark": "terminal hint 80x24 24bit dark",
}  # fmt: skip
"""Screenshots used in docs/images."""
THEMES = ("light", "dark", "high-contrast")


@functools.cache
def the_game(seed: int = 1, secret: str = "") -> Game:
    """Return a game that a strong player begins and a careless one finishes."""
    game = Game(get_rules("classic"), seed=seed, draws=draws_of(secret) if secret else None)
    strong, careless = make_player("ntuple"), make_player("random:seed=3")
    middle = MIDDLE if seed == 1 else 37 * seed % 700
    while not game.is_over:
        game.play((strong if game.ply < middle else careless).choose(game))
    return game


class Album:
    """A folder of screenshots, and the errors that occurred.

    Args:
        folder: The folder.
        wanted: Names of the screenshots to take.
        faults: Receives error messages.
    """

    def __init__(self, folder: Path, wanted: set[str], faults: ListProxy[str]) -> None:
        self._folder, self.wanted, self._faults = folder, wanted, faults

    def place(self, name: str) -> Path:
        """Return the path of a screenshot."""
        return self._folder / f"{name.replace(' ', '_')}.png"

    @contextmanager
    def blaming(self, name: str) -> Iterator[None]:
        """Record exceptions under a name, and continue with the next screenshot."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - continue with the next screenshot
            self._faults.append(f"{name}: {type(error).__name__}: {str(error).split(chr(10))[0]}")
            print(self._faults[-1], file=sys.stderr)


# The web

WEB_SIZES = {"4k": (3840, 2160), "laptop": (1366, 768), "phone": (360, 740), "small": (320, 568)}
REVIEWED = """() => /(Accuracy|Luck|Precisão|Sorte)\\s*[+\u2212]?\\d/.test(
    (document.querySelector("dialog[open]") ?? document.querySelector("main")).textContent)"""


def rest(_page: Page) -> None:
    """Do nothing."""


def answer(page: Page) -> None:
    """Answer the puzzle and wait for the next page."""
    with page.expect_navigation():
        page.keyboard.press("ArrowUp")


def hint(page: Page) -> None:
    """Request a hint and wait for it."""
    page.keyboard.press("?")
    page.locator("[data-best]").first.wait_for(timeout=15_000)


def end(page: Page) -> None:
    """Make the last move of the game and wait for its review."""
    page.keyboard.press(f"Arrow{str(the_game(1, SECRET).turns[-1].direction).capitalize()}")
    page.wait_for_selector("dialog[open]")
    page.wait_for_function(REVIEWED)


def review(page: Page) -> None:
    """Request the review, if it is not automatic, and wait for it."""
    with suppress(Error):
        page.locator("#review button").click(timeout=500)
    page.wait_for_function(REVIEWED)
    page.evaluate("scrollTo(0, 0)")


PLAY, PUZZLE, OVER = "/?game={middle}", "/puzzle?day=2026-11-20", "/game/{finished}"
WEB: dict[str, tuple[str, str, Callable[[Page], object]]] = {
    "fresh": ("", "/", rest), "login": ("", "/account", rest),
    "empty": (NEWCOMER, "/account", rest), "unplayed": (NEWCOMER, f"/player/{NEWCOMER}", rest),
    "play": (ME, PLAY, rest), "hint": (ME, PLAY, hint),
    "new": (ME, PLAY, lambda page: page.keyboard.press("n")),
    "menu": (ME, PLAY, lambda page: page.click("#more")), "result": (ME, "/?game={last}", end),
    "review": (ME, OVER, review), "live": (ME, "/game/{watched}", rest),
    "share": (ME, f"{OVER}/share", rest), "daily": (ME, "/daily", rest),
    "puzzle": (ME, PUZZLE, rest), "answer": (ME, PUZZLE, answer),
    "ranks": (ME, "/leaderboards", rest), "norank": (ME, "/leaderboards?rules=5x5", rest),
    "watch": (ME, "/live", rest), "battles": (ME, "/battle", rest),
    "battle": (ME, "{battle}", rest), "profile": (ME, f"/player/{ME}", rest),
    "account": (ME, "/account", rest), "about": (ME, "/about", rest),
    "api": (ME, "/api/docs", rest), "missing": (ME, "/no/such/page", rest),
}  # fmt: skip
"""Account, address and interactions for each screenshot."""


class Site:
    """A server with accounts and games.

    Args:
        server: The running server.

    Attributes:
        games: Values for the placeholders in `WEB`.
        cookies: Browser cookies by account name.
    """

    def __init__(self, server: Any) -> None:
        self._web, self._games = map(importlib.import_module, ("web_server", "store_games"))
        self._server, self._store = server, open_store(server.store)
        visitors = {name: self._claim(name) for name in (NEWCOMER, ME, *RIVALS)}
        self.cookies: dict[str, Any] = {"": []}
        for name, visitor in visitors.items():
            kept = SimpleCookie(visitor.cookie).values()
            self.cookies[name] = [
                {"name": each.key, "value": each.value, "url": server.url} for each in kept
            ]
        today = datetime.now(UTC)
        with self._store.write() as connection:  # daily leaderboards require older accounts
            since = (today - timedelta(days=9)).isoformat().replace("+00:00", "Z")
            connection.execute(sa.update(accounts).values(created=since))
        for place, name in enumerate((ME, *RIVALS)):
            self._finish(name, today - timedelta(hours=2 + 20 * place), seed=3 + place)
            for ago in range(4 if name == ME else 1, 0, -1):
                day = (today - timedelta(days=ago - 1)).date().isoformat()
                facts = {"mode": "daily", "day": day, "secret": f"daily-{SECRET}"}
                self._finish(name, today - timedelta(minutes=1440 * ago - 1435), 8 + place, **facts)
        for seed in range(20, 32):
            self._finish(ME, today - timedelta(hours=9 * seed), seed, mode="casual")
        finished = self._finish(ME, today - timedelta(minutes=5), secret=SECRET)
        mine = visitors[ME]
        battle = mine.form("/battle", rules="classic", minutes="5").headers["location"]
        visitors[RIVALS[0]].form(f"{battle}/join")
        mine.form(f"{battle}/start")
        self.games = {
            "finished": finished, "battle": battle, "middle": self._deal(MIDDLE),
            "last": self._deal(the_game(1, SECRET).ply - 1),
            "watched": self._deal(MIDDLE, RIVALS[0], "ranked"),
        }  # fmt: skip

    def _claim(self, name: str) -> Any:
        visitor = self._web.Browser(self._server, address=self._web.elsewhere())
        visitor.form("/account/claim", name=name, password="correct horse battery")
        return visitor

    def _owner(self, name: str) -> str:
        account = self._store.accounts.find_name(name)
        assert account is not None, name
        return account.id

    def _finish(self, name: str, when: datetime, seed: int = 1, mode: str = "ranked",
                day: str | None = None, secret: str = SECRET) -> str:  # fmt: skip
        """Add a finished game and return its id; the secret deals the tiles for seed 1 only."""
        game, owner = the_game(seed, secret if seed == 1 else ""), self._owner(name)
        written, game_id = when.isoformat().replace("+00:00", "Z"), secrets.token_hex(8)
        self._games.add_record(
            self._store, game_id, owner=owner, rules=str(game.rules), player=name, category=mode,
            started=written, finished=written, score=game.score, max_tile=game.board.max_tile,
            plies=game.ply, record=game.record().to_json(),
        )  # fmt: skip
        row = {"game_id": game_id, "owner": owner, "mode": mode, "day": day, "secret": secret}
        with self._store.write() as connection:
            connection.execute(sa.insert(rounds), row)
            enter_records(connection, records.c.id == game_id)  # for the daily leaderboard
        return game_id

    def _deal(self, plies: int, name: str = ME, mode: str = "casual") -> str:
        """Add a game in progress after `plies` moves and return its id."""
        game = the_game(1, SECRET)
        saved = self._games.new_online_game(
            self._store, mode=mode, secret=SECRET, rules=str(game.rules), start=str(game.start),
            owner=self._owner(name), player=name,
        )  # fmt: skip
        played = game.turns[:plies]
        turns = tuple((ply, encode_turn(turn), 0) for ply, turn in enumerate(played))
        score = sum(turn.slide.points for turn in played)
        change = GameChange(saved.id, 0, 1, plies, plies, score, False, 0, 0, {}, turns)
        self._store.changes.write([change])
        return str(saved.id)


def web(album: Album) -> None:
    """Take the screenshots of the web."""
    visiting = importlib.import_module("tests.server.browser.visiting")
    chromium = importlib.import_module("tests.server.browser.conftest").find_chromium()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = visiting.Server(Path(home))
        server.start()
        try:
            site = Site(server)
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for size, (width, height) in WEB_SIZES.items():
                page = browser.new_context(
                    viewport={"width": width, "height": height}, has_touch=width < 900,
                    is_mobile=width < 900, reduced_motion="reduce", service_workers="block",
                    locale=os.environ["LANGUAGE"], base_url=server.url,
                ).new_page()  # fmt: skip
                page.set_default_timeout(60_000)
                for name, (who, address, deed) in WEB.items():
                    page.context.add_cookies(site.cookies[who])
                    visit(album, page, f"web {name} {size}", address.format(**site.games), deed)
                page.context.close()
        finally:
            server.stop()


def visit(
    album: Album, page: Page, name: str, address: str, deed: Callable[[Page], object]
) -> None:
    """Take screenshots of a page in all themes."""
    wanted = [theme for theme in THEMES if f"{name} {theme}" in album.wanted]
    if not wanted:
        return
    with album.blaming(name):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        if page.locator("#board").count():
            page.wait_for_selector(".tile")
        deed(page)
        page.wait_for_timeout(300)
        for theme in wanted:
            page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            page.screenshot(path=album.place(f"{name} {theme}"))
        scrolls = "document.documentElement.scrollWidth > innerWidth"
        assert not page.evaluate(scrolls), "the page scrolls sideways"


# The window

WINDOW_SIZES = {"small": "320x480+0+0", "usual": "560x800+0+0", "4k": "3840x2130+0+0"}
WINDOW = {
    "play": (MIDDLE, "", 0.3), "hint": (MIDDLE, "question", 2.5), "new": (MIDDLE, "n", 0.5),
    "rules": (MIDDLE, "m", 0.5), "help": (MIDDLE, "F1", 0.5), "statistics": (MIDDLE, "i", 1.5),
    "result": (-1, "", 6.0), "review": (-1, "b", 4.0),
}  # fmt: skip
"""Number of moves played, key to press, and seconds to wait, by the screenshot's name."""


def table(plies: int, seed: int = 1) -> Session:
    """Return the player's session with a game after `plies` moves."""
    session = open_session()
    session.start(seed=seed)
    for turn in the_game(seed).turns[:plies]:
        session.move(turn.direction)
    return session


def window(album: Album) -> None:
    """Take the screenshots of the window, on a virtual display."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "3840x2160x24", "-noreset"]
    screen = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    with os.fdopen(reading) as answer:
        os.environ["DISPLAY"] = f":{answer.readline().strip()}"
    for seed in range(20, 26):
        table(the_game(seed).ply, seed).close()  # finished games for the statistics
    gc.disable()  # Tk objects must be freed by the thread that created them
    for (size, place), (name, how), theme in product(WINDOW_SIZES.items(), WINDOW.items(), THEMES):
        picture = f"window {name} {size} {theme}"
        if picture in album.wanted:
            with album.blaming(picture):
                look(album, picture, theme, place, *how)
    screen.terminate()
    screen.wait()


def look(
    album: Album, picture: str, theme: str, place: str, plies: int, key: str, wait: float
) -> None:
    """Take a screenshot of a window after a key press."""
    desks = importlib.import_module("tests.app.desktop.conftest")
    session = table(plies)
    running = desks.GameWindow(session, theme=theme)
    try:
        desk = desks.Desk(running)
        desk.root.geometry(place)
        desk.pump(0.5)
        keys = [str(the_game().turns[-1].direction).capitalize()] if plies < 0 else []
        desk.key(*keys, *([key] if key else []))
        desk.pump(wait)
        desk.look().crop(widest(desk.root)).save(album.place(picture))
    finally:
        running.close()
        session.close()
        del running, desk
        gc.collect()


def widest(root: Any) -> tuple[int, int, int, int]:
    """Return the bounding box of a window, or of a larger dialog on top of it."""
    seen = [root, *(each for each in root.winfo_children() if each.winfo_toplevel() is each)]
    shown = max(filter(tk.Misc.winfo_viewable, seen), key=tk.Misc.winfo_width)
    x, y = shown.winfo_rootx(), shown.winfo_rooty()
    return x, y, x + shown.winfo_width(), y + shown.winfo_height()


# The terminal

TERMINAL_SIZES = {"80x24": (24, 80), "200x60": (60, 200)}
COLOURS = {"16": ("xterm", ""), "256": ("xterm-256color", ""), "24bit": ("xterm", "truecolor")}
TERMINAL = {
    MIDDLE: {"play": ("", "F1"), "hint": ("?", "\u2212\\d"), "help": ("\x1bOP", "↑ w k")},
    -1: {"result": ("\x1b[{last}", "\\d %"), "review": ("b", "\\d[.,]\\d %")},
}
"""Keys to press and patterns to wait for, in order, by number of moves and screenshot name."""
XTERM = {
    "black": ("000000", "7f7f7f"), "red": ("cd0000", "ff0000"), "green": ("00cd00", "00ff00"),
    "brown": ("cdcd00", "ffff00"), "blue": ("0000ee", "5c5cff"), "magenta": ("cd00cd", "ff00ff"),
    "cyan": ("00cdcd", "00ffff"), "white": ("e5e5e5", "ffffff"),
}  # fmt: skip
"""The sixteen colours of xterm, normal and bright; bold text is bright."""
QUARTERS = dict(
    zip("▘▝▖▗▀▄▌▐▚▞▛▜▙▟█", (1, 2, 4, 8, 3, 12, 5, 10, 9, 6, 7, 11, 13, 14, 15), strict=True)
)
"""Quadrant block characters, which fonts draw with gaps, and the quadrants they fill."""
CELL = (10, 20)


def terminal(album: Album) -> None:
    """Take the screenshots of the terminal, with xterm's colours."""
    seats = importlib.import_module("tests.app.terminal.test_terminal_real")
    last = "ABCD"[["up", "down", "right", "left"].index(str(the_game().turns[-1].direction))]
    command = ["-m", "py2048", "play", "--ui", "terminal", "--resume", "--reduced-motion"]
    variants = product(TERMINAL_SIZES, COLOURS, THEMES[:2], TERMINAL.items())
    for size, colours, theme, (plies, deeds) in variants:
        variant = f"{size} {colours} {theme}"
        wanted = [name for name in deeds if f"terminal {name} {variant}" in album.wanted]
        if wanted:
            table(plies).close()
            kind = dict(zip(("TERM", "COLORTERM"), COLOURS[colours], strict=True))
            seat = seats.Terminal([*command, "--theme", theme], TERMINAL_SIZES[size], **kind)
            with album.blaming(f"terminal {' '.join(wanted)} {variant}"):
                for name, (keys, comes) in deeds.items():
                    seat.process.send(keys.format(last=last))
                    seat.until(functools.partial(seat.finds, comes), comes)
                    for _ in range(20):  # wait for the rest of the screen
                        seat.read()
                    drawn(seat.screen).save(album.place(f"terminal {name} {variant}"))
            seat.end()


def drawn(screen: Any) -> Image.Image:
    """Draw a terminal screen."""
    wide, high = CELL
    picture = Image.new("RGB", (screen.columns * wide, screen.lines * high), "#000000")
    pen = ImageDraw.Draw(picture)
    fonts = [ImageFont.truetype(f"DejaVuSansMono{kind}.ttf", 16) for kind in ("", "-Bold")]
    for row, column in product(range(screen.lines), range(screen.columns)):
        cell, (x, y) = screen.buffer[row][column], (column * wide, row * high)
        ink, ground = rgb(cell.fg, "e5e5e5", bold=cell.bold), rgb(cell.bg, "000000")
        if cell.reverse:
            ink, ground = ground, ink
        pen.rectangle((x, y, x + wide - 1, y + high - 1), ground)
        for quarter in range(4):
            if QUARTERS.get(cell.data, 0) >> quarter & 1:
                left, top = x + quarter % 2 * wide // 2, y + quarter // 2 * high // 2
                pen.rectangle((left, top, left + wide // 2 - 1, top + high // 2 - 1), ink)
        if cell.data not in QUARTERS and cell.data.strip():
            pen.text((x, y + 16), cell.data, ink, fonts[cell.bold], anchor="ls")
    return picture


def rgb(name: str, default: str, *, bold: bool = False) -> str:
    """Return the RGB colour of an emulator's colour name."""
    plain = name.replace("bfight", "bright").removeprefix("bright")
    if plain in XTERM:
        return "#" + XTERM[plain][bold or plain != name]
    return "#" + (default if name == "default" else name)


# Command line

PARTS: dict[Callable[[Album], None], tuple[Iterable[str], ...]] = {
    web: (WEB, WEB_SIZES, THEMES),
    window: (WINDOW, WINDOW_SIZES, THEMES),
    terminal: ([*TERMINAL[MIDDLE], *TERMINAL[-1]], TERMINAL_SIZES, COLOURS, THEMES[:2]),
}
"""Words that make up the screenshots' names, by front end."""
PAGE = """<!doctype html><title>Looks</title>
<style>figure { display: inline-block } img { max-width: 420px; max-height: 420px }</style>"""
FIGURE = """<figure><a href="{name}"><img loading="lazy" src="{name}"></a>
<figcaption>{name}</figcaption></figure>"""


def write_page(folder: Path, faults: list[str]) -> Path:
    """Write the page that shows all screenshots; return its path."""
    names = [each.name for each in sorted(folder.glob("*.png"))]
    page = folder / "index.html"
    parts = [PAGE, *(f"<p>{escape(fault)}</p>" for fault in faults)]
    page.write_text("".join([*parts, *(FIGURE.format(name=name) for name in names)]))
    return page


def keep_in_docs(folder: Path) -> None:
    """Copy screenshots to the docs, with reduced palettes."""
    for name, ours in IN_DOCS.items():
        with Image.open(folder / f"{ours.replace(' ', '_')}.png") as picture:
            few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        few.save(ROOT / "docs" / "images" / f"{name}.png", optimize=True)


def take(part: Callable[[Album], None], album: Album) -> None:
    """Take the screenshots of a front end, in a process with its own data folder."""
    with tempfile.TemporaryDirectory() as home, album.blaming(part.__name__):
        os.environ["PY2048_HOME"] = home
        set_language(os.environ["LANGUAGE"])
        part(album)


def main() -> int:
    """Take the screenshots selected on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "looks")
    parser.add_argument("--match", default="", help="take only pictures whose names match")
    parser.add_argument("--language", choices=LANGUAGES, default="en")
    parser.add_argument("--docs", action="store_true", help="take those of docs/images, into it")
    wish = parser.parse_args()
    if wish.docs:
        wish.match = f"^({'|'.join(IN_DOCS.values())})$"
    os.environ["LANGUAGE"] = wish.language
    wish.folder.mkdir(parents=True, exist_ok=True)
    began, running, faults = time.monotonic(), [], multiprocessing.Manager().list()
    for part, words in PARTS.items():
        names = map(" ".join, product([part.__name__], *words))
        wanted = {name for name in names if re.search(wish.match, name)}
        if wanted:
            album = Album(wish.folder, wanted, faults)
            running.append(Process(target=take, args=(part, album), name=part.__name__))
            running[-1].start()
    for process in running:
        process.join()
        faults += [f"{process.name} ended with {process.exitcode}"] if process.exitcode else []
    if wish.docs:
        keep_in_docs(wish.folder)
    page = write_page(wish.folder, list(faults))
    print(f"{time.monotonic() - began:.0f} s, {len(faults)} faults: {page}")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
