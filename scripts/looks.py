"""Take a picture of every screen: the web, the window and the terminal, in sizes and themes.

One game, the same in every run, stands on all screens. The pictures, and a page that shows each
beside the design's picture, go into a folder:

    make looks
    make looks ARGS="build/looks --design ../shared/visual --match 'web (ranks|play) phone'"
"""

from __future__ import annotations

import argparse
import functools
import gc
import html
import importlib
import itertools
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped] # a tool of the tests
import pyte
import sqlalchemy as sa
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Error, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / each) for each in ("server", "storage"))]

from py2048 import Game, get_rules, make_player  # noqa: E402 - after the path
from py2048.game.record import encode_turn  # noqa: E402
from py2048.server.play.fairness import draws_of  # noqa: E402
from py2048.session import Session, open_session  # noqa: E402
from py2048.storage import (  # noqa: E402
    GameChange,
    NewOnlineGame,
    OnlineGameInfo,
    SavedGame,
    open_store,
)  # fmt: skip
from py2048.storage.schema import rounds  # noqa: E402

WEB_SIZES = {"phone": (360, 740), "small": (320, 568), "laptop": (1366, 768), "4k": (3840, 2160)}
WEB_THEMES = ("light", "dark", "high-contrast")
WINDOW_SIZES = {"small": (320, 480), "usual": (560, 800), "4k": (3840, 2160)}
TERMINAL_SIZES = ((80, 24), (200, 60))
COLOURS = {"16": ("xterm", ""), "256": ("xterm-256color", ""), "24bit": ("xterm", "truecolor")}
MIDDLE = 498
"""The move of the game at which most pictures are taken; soon after, it is lost."""

ME, RIVALS = "lena_k", ("ada_l", "edsger_d", "grace_h", "marisol", "tobi_w", "quince", "h.ito")
SECRET = "2048" * 16
DESIGN = {
    "web play": "web-play-desktop", "web play dark": "web-play-desktop-dark",
    "web play phone": "web-play-phone", "web play phone dark": "web-play-phone-dark",
    "web play small": "web-play-320", "web play 4k": "web-play-4k-small",
    "web hint": "web-play-desktop", "web review": "review", "web result": "result",
    "web ranks": "leaderboard", "window play": "desktop", "terminal hint": "terminal",
}  # fmt: skip
"""The design's pictures, by words of the names of ours: the one with the most counts."""


IN_DOCS = {
    "desktop-light": "window play usual light", "desktop-dark": "window play usual dark",
    "desktop-review": "window review usual light", "web-light": "web play laptop light",
    "web-dark": "web play laptop dark", "terminal-light": "terminal hint 80x24 24bit light",
    "terminal-dark": "terminal hint 80x24 24bit dark",
}  # fmt: skip
"""The pictures of docs/images that are ours too."""


@functools.cache
def the_game(seed: int = 1, secret: str = "") -> Game:
    """Return a game: a strong player's, and from its middle on a careless one's."""
    game = Game(get_rules("classic"), seed=seed, draws=draws_of(secret) if secret else None)
    strong, careless = make_player("ntuple"), make_player("random:seed=3")
    middle = MIDDLE if seed == 1 else 37 * seed % 700
    while not game.is_over:
        game.play((strong if game.ply < middle else careless).choose(game))
    return game


class Album:
    """A folder of pictures, and what went wrong with some.

    Args:
        folder: where they go.
        wanted: a pattern; pictures whose names do not have it are not taken.
    """

    def __init__(self, folder: Path, wanted: str) -> None:
        self._folder, self._wanted = folder, re.compile(wanted)
        self.taken, self.faults = 0, list[str]()

    def wants(self, name: str) -> bool:
        """Say whether a picture is to be taken."""
        return bool(self._wanted.search(name))

    def take(self, name: str, picture: Callable[..., None], *how: Any) -> None:
        """Take a picture if it is wanted; whatever goes wrong costs only this one."""
        if not self.wants(name):
            return
        try:
            picture(self._folder / f"{name.replace(' ', '_')}.png", *how)
            self.taken += 1
        except Exception as error:  # noqa: BLE001 - the next screens are looked at all the same
            self.faults.append(
                f"{name}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
            )
            print(self.faults[-1], file=sys.stderr)

    def write_page(self, design: Path) -> Path:
        """Write the page that shows all pictures, those of the design first; return its place."""
        screens: dict[str, list[tuple[str, str]]] = {}
        for each in sorted(self._folder.glob("*.png")):
            words = each.stem.split("_")
            shown = screens.setdefault(" ".join(words[:2]), [])
            keys = [key for key in DESIGN if set(key.split()) <= set(words)]
            if keys:
                name = DESIGN[max(keys, key=lambda key: len(key.split()))]
                entry = f"{design.resolve()}/{name}.png", f"design: {name}"
                shown += [entry] if entry not in shown else []
            shown.append((each.name, each.stem.replace("_", " ")))
        parts = [f"<p>{html.escape(fault)}</p>" for fault in self.faults]
        for title, entries in screens.items():
            parts.append(f"<h2>{title}</h2>")
            parts += [
                f'<figure><a href="{source}"><img loading="lazy" src="{source}"></a>'
                f"<figcaption>{text}</figcaption></figure>"
                for source, text in entries
            ]
        style = "figure{display:inline-block;margin:8px}img{max-width:420px;max-height:420px}"
        page = self._folder / "index.html"
        page.write_text(
            f"<!doctype html><title>Looks</title><style>{style}</style>{''.join(parts)}"
        )
        return page


# The web


class Site:
    """A server with people and their games.

    Args:
        server: the running server.
        store: the file of its store.
    """

    def __init__(self, server: Any, store: Path) -> None:
        self._web, self._store = importlib.import_module("web_server"), open_store(store)
        self._server, today = server, datetime.now(UTC)
        visitors = [self._claim(name) for name in (ME, *RIVALS)]
        self.cookies: Any = [
            {"name": name, "value": value, "url": server.url}
            for name, _, value in (each.partition("=") for each in visitors[0].cookie.split("; "))
        ]
        for place, name in enumerate((ME, *RIVALS)):
            self._finish(name, today - timedelta(hours=2 + 20 * place), seed=3 + place)
            for ago in range(4 if name == ME else 1, 0, -1):
                day = (today - timedelta(days=ago - 1)).date().isoformat()
                facts = {"mode": "daily", "day": day, "secret": f"daily-{SECRET}"}
                self._finish(name, today - timedelta(minutes=1440 * ago - 1435), 8 + place, **facts)
        for seed in range(20, 32):
            self._finish(ME, today - timedelta(hours=9 * seed), seed, mode="casual")
        self.finished = self._finish(ME, today - timedelta(minutes=5), secret=SECRET)
        battle = visitors[0].form("/battle", rules="classic", minutes="5").headers["location"]
        for number, action in ((1, "join"), (0, "start")):
            visitors[number].form(f"{battle}/{action}")
        self.battle, self.watched = battle, self.deal(MIDDLE, RIVALS[0], "ranked")

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
        """Add a finished game and return its id; only that of seed 1 is played by its secret."""
        add_record = importlib.import_module("store_games").add_record
        game, owner = the_game(seed, secret if seed == 1 else ""), self._owner(name)
        written, game_id = when.isoformat().replace("+00:00", "Z"), secrets.token_hex(8)
        add_record(
            self._store, game_id, owner=owner, rules=str(game.rules), player=name, category=mode,
            started=written, finished=written, score=game.score, max_tile=game.board.max_tile,
            plies=game.ply, record=game.record().to_json(),
        )  # fmt: skip
        row = {"game_id": game_id, "owner": owner, "mode": mode, "day": day, "secret": secret}
        with self._store.write() as connection:
            connection.execute(sa.insert(rounds), row)
        return game_id

    def deal(self, plies: int, name: str = ME, mode: str = "casual") -> str:
        """Put the game on somebody's table, at a move; return its id."""
        game, owner = the_game(1, SECRET), self._owner(name)
        saved = SavedGame(
            rules=str(game.rules), seed=None, start=str(game.start), owner=owner, player=name
        )
        info = OnlineGameInfo(saved.id, owner, mode, None, SECRET)
        self._store.changes.write([NewOnlineGame(saved, info)])
        played = game.turns[:plies]
        turns = tuple((ply, encode_turn(turn), 0) for ply, turn in enumerate(played))
        score = sum(turn.slide.points for turn in played)
        change = GameChange(saved.id, 0, 1, plies, plies, score, False, 0, 0, {}, turns)
        self._store.changes.write([change])
        return saved.id


REVIEWED = """() => /(Accuracy|Luck)\\s*[+\u2212]?\\d/.test((document.querySelector("dialog[open]")
    ?? document.querySelector("main")).textContent)"""


def rest(_page: Page) -> None:
    """Do nothing."""


def hint(page: Page) -> None:
    """Ask for a hint and wait for it."""
    page.keyboard.press("?")
    with suppress(Error):
        page.locator("[data-best], .best").first.wait_for(timeout=8000)
    page.wait_for_timeout(300)


def end(page: Page) -> None:
    """Make the last move of the game and wait for its review."""
    page.keyboard.press(f"Arrow{str(the_game(1, SECRET).turns[-1].direction).capitalize()}")
    page.wait_for_selector("dialog[open]")
    reviewed(page)


def reviewed(page: Page) -> None:
    """Ask for the review of the game where it must be asked for, and wait, but not for ever."""
    with suppress(Error):
        page.get_by_role("button", name="Review this game").click(timeout=500)
    with suppress(Error):
        page.wait_for_function(REVIEWED, timeout=15_000)
    page.wait_for_timeout(500)


def press(key: str) -> Callable[[Page], None]:
    """Return what presses a key."""
    return lambda page: page.keyboard.press(key)


def web(album: Album) -> None:
    """Take the pictures of the pages."""
    visiting = importlib.import_module("tests.server.browser.visiting")
    chromium = importlib.import_module("tests.server.browser.conftest").find_chromium()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = visiting.Server(Path(home))
        server.start()
        try:
            site = Site(server, server.store)
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for size, (width, height) in WEB_SIZES.items():
                for theme in WEB_THEMES:
                    page = browser.new_context(
                        viewport={"width": width, "height": height}, has_touch=width < 900,
                        is_mobile=width < 900, reduced_motion="reduce", service_workers="block",
                    ).new_page()  # fmt: skip
                    page.add_init_script(f"try {{ localStorage.theme = {theme!r} }} catch {{}}")
                    visit_all(album, page, site, server.url, f"{size} {theme}")
                    page.context.close()
        finally:
            server.stop()


def visit_all(album: Album, page: Page, site: Site, url: str, variant: str) -> None:
    """Take the pictures of all pages in a size and a theme."""
    last = the_game(1, SECRET).ply - 1
    middle = functools.cache(lambda: f"/?game={site.deal(MIDDLE)}")
    screens: list[tuple[str, str | Callable[[], str], Callable[[Page], None]]] = [
        ("fresh", "/", rest), ("login", "/account", rest),
        ("play", middle, rest), ("hint", middle, hint),
        ("menu", middle, lambda page: page.locator("#more").click(timeout=2000)),
        ("new", middle, press("n")),
        ("result", lambda: f"/?game={site.deal(last)}", end),
        ("review", f"/game/{site.finished}", reviewed),
        ("live", f"/game/{site.watched}", rest), ("share", f"/game/{site.finished}/share", rest),
        ("daily", "/daily", rest), ("puzzle", "/puzzle?day=2026-11-20", rest),
        ("answer", "/puzzle?day=2026-11-20", press("ArrowUp")),
        ("ranks", "/leaderboards", rest), ("norank", "/leaderboards?rules=5x5", rest),
        ("watch", "/live", rest), ("battles", "/battle", rest), ("battle", site.battle, rest),
        ("profile", f"/player/{ME}", rest), ("account", "/account", rest),
        ("about", "/about", rest), ("api", "/api/docs", rest), ("missing", "/no/such/page", rest),
    ]  # fmt: skip
    for name, path, deed in screens:
        if name == "play":
            page.context.add_cookies(site.cookies)  # from now on it is somebody
        album.take(f"web {name} {variant}", visit, page, url, path, deed)


def visit(place: Path, page: Page, url: str, path: Any, deed: Callable[[Page], None]) -> None:
    """Take the picture of a page."""
    page.goto(url + (path if isinstance(path, str) else path()))
    page.wait_for_load_state("networkidle")
    if page.locator("#board").count():
        page.wait_for_selector(".tile")
    deed(page)
    page.wait_for_timeout(200)
    page.screenshot(path=place)
    scrolls = "document.documentElement.scrollWidth > innerWidth"
    assert not page.evaluate(scrolls), "the page scrolls sideways"


# The window


def table(plies: int) -> Session:
    """Return the player's own session with the game on it, at a move."""
    session = open_session()
    session.start(seed=1)
    for turn in the_game().turns[:plies]:
        session.move(turn.direction)
    return session


def is_window(widget: Any) -> bool:
    """Say whether a widget is a window that can be seen."""
    return bool(widget.winfo_toplevel() is widget and widget.winfo_viewable())


def look(
    picture: Path, sit: Any, open_: Any, place: str, plies: int, key: str, wait: float
) -> None:
    """Take the picture of a window in which a key was pressed."""
    session = table(plies)
    running = open_(session)
    try:
        desk = sit(running)
        desk.root.geometry(place)
        desk.pump(0.5)
        keys = [str(the_game().turns[-1].direction).capitalize()] if plies < 0 else []
        desk.key(*keys, *([key] if key else []))
        desk.pump(wait)
        around = [each for each in (desk.root, *desk.root.winfo_children()) if is_window(each)]
        large = [each for each in around if each.winfo_width() > desk.root.winfo_width()]
        around = large or around
        desk.look().crop((
            max(0, min(each.winfo_rootx() for each in around)),
            max(0, min(each.winfo_rooty() for each in around)),
            max(each.winfo_rootx() + each.winfo_width() for each in around),
            max(each.winfo_rooty() + each.winfo_height() for each in around),
        )).save(picture)  # fmt: skip
    finally:
        running.close()
        session.close()
        del running, desk
        gc.collect()


def play_before() -> None:
    """Give the player games that are over."""
    session = open_session()
    for seed in range(20, 26):
        session.start(seed=seed)
        for turn in the_game(seed).turns:
            session.move(turn.direction)
    session.close()


def window(album: Album) -> None:
    """Take the pictures of the window, on a display of its own."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "3840x2160x24"]
    screen = subprocess.Popen([*command, "-noreset"], pass_fds=[writing], stderr=subprocess.DEVNULL)
    with os.fdopen(reading) as answer:
        os.environ["DISPLAY"] = f":{answer.readline().strip()}"
    play_before()
    gc.disable()  # Tk's objects must be freed by the thread that made them, not by a worker
    desks = importlib.import_module("tests.ui.desktop.conftest")
    launch = importlib.import_module("py2048.ui.desktop.launch")
    screens: dict[str, tuple[int, str, float]] = {  # the move, a key, and seconds to wait
        "play": (MIDDLE, "", 0.3), "hint": (MIDDLE, "question", 2.5), "new": (MIDDLE, "n", 0.5),
        "rules": (MIDDLE, "m", 0.5), "help": (MIDDLE, "F1", 0.5), "statistics": (MIDDLE, "i", 1.5),
        "result": (-1, "", 6), "review": (-1, "b", 4),
    }  # fmt: skip
    variants = itertools.product(WINDOW_SIZES.items(), WEB_THEMES[:2], screens.items())
    for (size, (width, height)), theme, (name, how) in variants:
        open_ = functools.partial(launch.GameWindow, theme=theme)
        place = f"{width}x{height}+0+0"
        album.take(f"window {name} {size} {theme}", look, desks.Desk, open_, place, *how)
    screen.terminate()
    screen.wait()


# The terminal

PLAY = """import sys; from py2048.session import open_session; from py2048.ui.terminal import run
s = open_session(); s.resume(); run(s, theme=sys.argv[1], reduced_motion=True); s.close()"""
XTERM = {
    "black": ("000000", "7f7f7f"), "red": ("cd0000", "ff0000"), "green": ("00cd00", "00ff00"),
    "brown": ("cdcd00", "ffff00"), "blue": ("0000ee", "5c5cff"), "magenta": ("cd00cd", "ff00ff"),
    "cyan": ("00cdcd", "00ffff"), "white": ("e5e5e5", "ffffff"),
}  # fmt: skip
"""The sixteen colours of xterm; bold text has the bright one of its colour."""
QUARTERS = dict(
    zip("▘▝▖▗▀▄▌▐▚▞▛▜▙▟█", (1, 2, 4, 8, 3, 12, 5, 10, 9, 6, 7, 11, 13, 14, 15), strict=True)
)
"""The block characters, which no font draws without gaps, and the quarters that they fill."""
CELL = (10, 20)


def rgb(name: str, default: str, *, bold: bool = False) -> str:
    """Return a colour of the emulator as Pillow writes it."""
    plain = name.replace("bfight", "bright").removeprefix("bright")
    if plain in XTERM:
        return "#" + XTERM[plain][bold or plain != name]
    return "#" + (default if name == "default" else name)


def drawn(screen: Any) -> Image.Image:
    """Return the picture of a terminal's screen."""
    wide, high = CELL
    picture = Image.new("RGB", (screen.columns * wide, screen.lines * high), "#000000")
    pen = ImageDraw.Draw(picture)
    fonts = [ImageFont.truetype(f"DejaVuSansMono{kind}.ttf", 16) for kind in ("", "-Bold")]
    for row in range(screen.lines):
        for column in range(screen.columns):
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


def terminal(album: Album) -> None:
    """Take the pictures of the terminal, as xterm would show it."""
    last = "ABCD"[["up", "down", "right", "left"].index(str(the_game().turns[-1].direction))]
    acts = (
        (MIDDLE, {"play": "", "hint": "?", "help": "\x1bOP"}),
        (-1, {"result": f"\x1b[{last}", "review": "b"}),
    )
    variants = itertools.product(TERMINAL_SIZES, COLOURS.items(), WEB_THEMES[:2], acts)
    for (columns, rows), (colours, (kind, depth)), theme, (plies, keys) in variants:
        variant = f"{columns}x{rows} {colours} {theme}"
        if any(album.wants(f"terminal {name} {variant}") for name in keys):
            table(plies).close()
            kinds = {"TERM": kind, "COLORTERM": depth}
            _act(album, variant, keys, (rows, columns), kinds, theme)


def _act(album: Album, variant: str, keys: dict[str, str], size: tuple[int, int],
         kinds: dict[str, str], theme: str) -> None:  # fmt: skip
    """Play in a terminal, and take a picture after each key."""
    screen = pyte.Screen(*reversed(size))
    stream = pyte.ByteStream(screen)
    process = pexpect.spawn(
        sys.executable, ["-c", PLAY, theme], env=os.environ | kinds, dimensions=size
    )
    for name, text in keys.items():
        process.send(text)
        patience = time.monotonic() + (2 if name in ("play", "help") else 5)
        while time.monotonic() < patience:
            with suppress(pexpect.TIMEOUT, pexpect.EOF):  # pyte knows no private keyboard modes
                raw = process.read_nonblocking(1 << 16, timeout=0.1)
                stream.feed(re.sub(rb"\x1b\[[<>=][0-9;]*u", b"", raw))
        album.take(f"terminal {name} {variant}", lambda place: drawn(screen).save(place))
    process.kill(signal.SIGKILL)
    process.wait()


def fonts_with(folder: Path) -> str:
    """Return a configuration of fonts with those of a folder."""
    place = Path(tempfile.mkdtemp()) / "fonts.conf"
    system = '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>'
    place.write_text(f"<fontconfig>{system}<dir>{folder.resolve()}</dir></fontconfig>")
    return str(place)


def main() -> int:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "looks")
    parser.add_argument("--match", default="", help="take only pictures whose names match")
    parser.add_argument("--design", type=Path, default=ROOT.parent / "shared" / "visual")
    parser.add_argument("--fonts", type=Path, help="a folder of fonts to use besides the system's")
    parser.add_argument("--docs", action="store_true", help="take those of docs/images, into it")
    wish = parser.parse_args()
    if wish.docs:
        wish.match = f"^({'|'.join(IN_DOCS.values())})$"
    wish.folder.mkdir(parents=True, exist_ok=True)
    if wish.fonts:
        os.environ["FONTCONFIG_FILE"] = fonts_with(wish.fonts)
    album, began = Album(wish.folder, wish.match), time.monotonic()
    for part in (web, window, terminal):
        with tempfile.TemporaryDirectory() as home:
            os.environ["PY2048_HOME"] = home
            if not wish.match or part.__name__ in wish.match or re.match(r"\W", wish.match):
                part(album)
    for name, ours in IN_DOCS.items() if wish.docs else ():
        with Image.open(wish.folder / f"{ours.replace(' ', '_')}.png") as picture:
            few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        few.save(ROOT / "docs" / "images" / f"{name}.png", optimize=True)
    page = album.write_page(wish.design)
    print(f"{album.taken} pictures in {time.monotonic() - began:.0f} s: {page}")
    return len(album.faults) > 0


if __name__ == "__main__":
    sys.exit(main())
