"""Take the screenshots of web pages, window and terminal for the documentation (`make looks`).

All screenshots show the same game and are written to `docs/images` or to the given folder. The
window needs a display, for example from ``xvfb-run``.
"""

from __future__ import annotations

import functools
import gc
import os
import secrets
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from importlib import import_module
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / each) for each in ("server", "app/storage"))]

from py2048 import Game, get_rules, make_player  # noqa: E402 - after the path
from py2048.app.session import Session, open_session  # noqa: E402
from py2048.app.storage import GameChange, Store, open_store  # noqa: E402
from py2048.app.storage.records import NAMED, enter_records  # noqa: E402
from py2048.app.storage.schema import accounts, records, rounds  # noqa: E402
from py2048.core.fairness import draws_of  # noqa: E402
from py2048.core.game.turn import encode_turn  # noqa: E402

MIDDLE = 498
"""The move at which most screenshots are taken. The game is lost soon after this move."""
THEMES = "light", "dark"
ME, *RIVALS = ("lena_k", "ada_l", "edsger_d", "grace_h", "marisol", "tobi_w", "quince", "h.ito")
SECRET = "2048" * 16


@functools.cache
def the_game(seed: int = 1, secret: str = "") -> Game:
    """Return a game that a strong player begins and a careless player finishes."""
    game = Game(get_rules("classic"), seed=seed, draws=draws_of(secret) if secret else None)
    strong, careless = make_player("ntuple"), make_player("random:seed=3")
    middle = MIDDLE if seed == 1 else 37 * seed % 700
    while not game.is_over:
        game.play((strong if game.ply < middle else careless).choose(game))
    return game


def table(plies: int) -> Session:
    """Return the player's session with the game after `plies` moves."""
    session = open_session()
    session.start(seed=1)
    for turn in the_game().turns[:plies]:
        session.move(turn.direction)
    return session


def keep(folder: Path, name: str, picture: Image.Image) -> None:
    """Write a screenshot with a reduced palette."""
    few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(folder / f"{name}.png", optimize=True)


# The web


def web(folder: Path) -> None:
    """Take the screenshots of the web."""
    server = import_module("tests.server.browser.visiting").Server(Path(os.environ["PY2048_HOME"]))
    chromium = import_module("tests.server.browser.conftest").find_chromium()
    server.start()
    try:
        cookies, game_id = populated(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_context(
                viewport={"width": 1366, "height": 768}, reduced_motion="reduce",
                service_workers="block", locale="en", base_url=server.url,
            ).new_page()  # fmt: skip
            page.context.add_cookies(cookies)
            page.goto(f"/?game={game_id}", wait_until="networkidle")
            page.wait_for_selector("svg.spark")  # the last part to appear
            for theme in THEMES:
                page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
                keep(folder, f"web-{theme}", Image.open(BytesIO(page.screenshot())))
    finally:
        server.stop()


def populated(server: Any) -> tuple[Any, str]:
    """Add accounts with games; return the cookies of `ME` and the id of their game in progress."""
    store, visitors = open_store(server.store), import_module("web_server")
    for name in (*RIVALS, ME):
        visitor = visitors.Browser(server, address=visitors.elsewhere())
        visitor.form("/account/claim", name=name, password="correct horse battery")
    kept = SimpleCookie(visitor.cookie).values()
    now = datetime.now(UTC)
    with store.write() as connection:  # new accounts are left out of daily leaderboards
        since = (now - timedelta(days=9)).isoformat().replace("+00:00", "Z")
        connection.execute(sa.update(accounts).values(created=since))
    for place, name in enumerate((ME, *RIVALS)):
        finish(store, name, now - timedelta(hours=2 + 20 * place), 3 + place)
        for ago in range(4 if name == ME else 1):
            when = now - timedelta(days=ago)
            finish(store, name, when, 8 + place, day=when.date().isoformat(), mode="daily")
    for seed in range(20, 32):
        finish(store, ME, now - timedelta(hours=9 * seed), seed, mode="casual")
    cookies = [{"name": each.key, "value": each.value, "url": server.url} for each in kept]
    return cookies, deal(store)


def owner_of(store: Store, name: str) -> str:
    """Return the id of an account."""
    account = store.accounts.find_name(name)
    assert account is not None, name
    return account.id


def finish(
    store: Store, name: str, when: datetime, seed: int, *, mode: str = "ranked", day: str = ""
) -> None:
    """Add a finished game."""
    game, owner = the_game(seed), owner_of(store, name)
    written, game_id = when.isoformat().replace("+00:00", "Z"), secrets.token_hex(8)
    import_module("store_games").add_record(
        store, game_id, owner=owner, rules=str(game.rules), player=name, category=mode,
        started=written, finished=written, score=game.score, max_tile=game.board.max_tile,
        plies=game.ply, record=game.record().to_json(),
    )  # fmt: skip
    row = {"game_id": game_id, "owner": owner, "mode": mode, "day": day or None, "secret": SECRET}
    with store.write() as connection:
        connection.execute(sa.insert(rounds), row)
        enter_records(connection, NAMED.where(records.c.id == game_id))  # for the daily leaderboard


def deal(store: Store) -> str:
    """Add the game in progress and return its id."""
    game = the_game(1, SECRET)
    saved = import_module("store_games").new_online_game(
        store, mode="casual", secret=SECRET, rules=str(game.rules), start=str(game.start),
        owner=owner_of(store, ME), player=ME,
    )  # fmt: skip
    played = game.turns[:MIDDLE]
    turns = tuple((ply, encode_turn(turn), 0) for ply, turn in enumerate(played))
    score = sum(turn.slide.points for turn in played)
    store.changes.write([GameChange(saved.id, 0, 1, MIDDLE, MIDDLE, score, False, 0, 0, {}, turns)])
    return str(saved.id)


# The window


def window(folder: Path) -> None:
    """Take the screenshots of the window."""
    gc.disable()  # Tk objects must be freed by the thread that created them
    for theme in THEMES:
        keep(folder, f"desktop-{theme}", window_after(MIDDLE, theme))
    last = the_game().ply - 1, "light", str(the_game().turns[-1].direction).capitalize(), "b"
    keep(folder, "desktop-review", window_after(*last))
    keep(folder, "desktop-practice", window_after(*last, "f", "Return", "Right"))
    gc.collect()


def window_after(plies: int, theme: str, *keys: str) -> Image.Image:
    """Return a picture of the window or of a dialog on top, after some moves and keys."""
    desks = import_module("tests.app.desktop.conftest")
    desk = desks.Desk(desks.GameWindow(lambda: table(plies), theme=theme))
    desk.root.geometry("560x800+0+0")
    desk.pump(1)
    desk.focus(desk.board)
    for key in keys:
        desk.key(key)
        desk.pump(2)
        desk.until(lambda: getattr(getattr(desk.dialog, "review", None), "review", True))
    shown = desk.dialog or desk.root
    x, y = shown.winfo_rootx(), shown.winfo_rooty()
    box = x, y, x + shown.winfo_width(), y + shown.winfo_height()
    picture: Image.Image = desk.look().crop(box)
    desk.running.close()
    desk.session.close()
    return picture


# The terminal

SIZE, CELL = (24, 80), (10, 20)
"""The rows and columns of the terminal, and the width and height of a cell in pixels."""
QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
"""Block characters by bit mask of quadrants, drawn without a font, which would leave gaps."""


def terminal(folder: Path) -> None:
    """Take the screenshots of the terminal, with a hint."""
    seats = import_module("tests.app.terminal.test_terminal_real")
    command = ["-m", "py2048", "play", "--ui", "terminal", "--resume", "--reduced-motion"]
    for theme in THEMES:
        table(MIDDLE).close()
        seat = seats.Terminal(
            [*command, "--theme", theme], SIZE, TERM="xterm", COLORTERM="truecolor"
        )
        for keys, pattern in (("", "F1"), ("?", r"\d %")):
            seat.process.send(keys)
            seat.until(functools.partial(seat.finds, pattern), pattern)
        for _ in range(20):  # wait for the rest of the screen
            seat.read()
        keep(folder, f"terminal-{theme}", drawn(seat.screen))
        seat.end()


def drawn(screen: Any) -> Image.Image:
    """Draw a terminal screen."""
    wide, high = CELL
    picture = Image.new("RGB", (screen.columns * wide, screen.lines * high), "#000000")
    pen = ImageDraw.Draw(picture)
    fonts = [ImageFont.truetype(f"DejaVuSansMono{kind}.ttf", 16) for kind in ("", "-Bold")]
    for row, column in product(range(screen.lines), range(screen.columns)):
        cell, (x, y) = screen.buffer[row][column], (column * wide, row * high)
        ink, ground = (
            f"#{default if colour == 'default' else colour}"
            for colour, default in ((cell.fg, "e5e5e5"), (cell.bg, "000000"))
        )
        if cell.reverse:
            ink, ground = ground, ink
        pen.rectangle((x, y, x + wide - 1, y + high - 1), ground)
        filled = QUADRANTS.find(cell.data)
        for quarter in range(4):
            if filled >= 0 and filled >> quarter & 1:
                left, top = x + quarter % 2 * wide // 2, y + quarter // 2 * high // 2
                pen.rectangle((left, top, left + wide // 2 - 1, top + high // 2 - 1), ink)
        if filled < 0:
            pen.text((x, y + 16), cell.data, ink, fonts[cell.bold], anchor="ls")
    return picture


def main() -> None:
    """Take all screenshots, with a separate data folder for each front end."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["LANGUAGE"] = "en"
    for part in (web, window, terminal):
        with tempfile.TemporaryDirectory() as home:
            os.environ["PY2048_HOME"] = home
            part(folder)


if __name__ == "__main__":
    main()
