"""Programs on a server: streams, clock, leaderboard, limits and tokens."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import Visitor, running
from tests.processes import python, until
from web_server import GENEROUS, Browser, WebServer, claimed, serving

from py2048 import Direction
from py2048.app.storage import Account, open_store
from py2048.cli import main
from py2048.client import BotClient, RemoteGame
from py2048.core.errors import ClientError, IllegalMoveError
from py2048.players import make_player
from py2048.server.http.limits import RateLimits
from py2048.server.http.monitoring import Metrics
from py2048.server.play import rooms
from py2048.server.play.games import GameService, ThinkingClock, replayed
from py2048.server.schema import BOARDS, ActionRejected
from py2048.server.settings import ServerSettings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RULES = "2x4"


def token_on(page: str) -> str:
    found = re.search(r'<code id="token">([^<]+)</code>', page)
    assert found, page
    return found[1]


def token_for(server: WebServer, name: str) -> tuple[Browser, str]:
    """Return a person's browser and the token of a new program."""
    person = claimed(server, f"Owner of {name}")
    return person, token_on(person.form("/account/bot", name=name).text)


def with_program(server: WebServer, name: str) -> tuple[Browser, Browser]:
    """Return a person's browser and a client with the program's token."""
    person, token = token_for(server, name)
    return person, Browser(server, headers={"Authorization": f"Bearer {token}"})


def boards_of(server: WebServer, player: str, rules: str = RULES) -> set[str]:
    """Return the leaderboards that list a player, once there is one."""
    browser = Browser(server)

    def found() -> set[str]:
        return {
            board
            for board in BOARDS
            for row in browser.get(f"/api/leaderboards?board={board}&rules={rules}").json()["games"]
            if row["player"] == player
        }

    return until(found)


@pytest.fixture
def connect() -> Iterator[Callable[..., BotClient]]:
    """Create clients that are closed after the test."""
    with ExitStack() as stack:
        yield lambda *args, **more: stack.enter_context(BotClient(*args, **more))


# The clock


@given(st.lists(st.floats(0, 0.05), min_size=1, max_size=200))
def test_the_times_of_many_short_moves_add_up(thoughts):
    """Rounding loses less than a millisecond over all moves together."""
    clock, now, total = ThinkingClock(0.0), 0.0, 0
    for thought in thoughts:
        clock.since = now
        now += thought
        total += clock.read(now)
    assert abs(1000 * sum(thoughts) - total) < 1.001


def test_a_game_is_timed_from_its_position_to_its_move(tmp_path, monkeypatch):
    """The first move, the server's own time and illegal attempts do not count."""
    monkeypatch.setattr(rooms, "LINGER_S", 1e6)

    async def play() -> None:
        async with running(f"sqlite:///{tmp_path / 'store'}") as server:
            server.backend.rooms.games.store.accounts.add_bot(
                "b" * 32, "Bot", "person", "t", most=1
            )
            account = Account("b" * 32, "Bot", None, 0, "", bot_of="person")
            visitor = Visitor(server, account)
            began = time.monotonic()
            await visitor.ask("new", rules=RULES)
            assert visitor.state["think_ms"] == 0
            await asyncio.sleep(0.02)
            await visitor.move()
            assert visitor.state["think_ms"] == 0
            game = server.backend.rooms.open[visitor.state["game"]].game
            while len(visitor.state["legal"]) == 4:
                await visitor.move()
            illegal = next(d for d in Direction if str(d) not in visitor.state["legal"])
            before, number = visitor.state["think_ms"], visitor.state["version"] + 1
            sent = game.clock.since
            await asyncio.sleep(0.03)
            await visitor.ask("move", number=number, direction=str(illegal))
            await visitor.move()
            elapsed_ms = 1000 * (time.monotonic() - sent)
            assert 30 <= visitor.state["think_ms"] - before <= elapsed_ms
            while visitor.state["outcome"] == "playing":
                await visitor.move()
            total = visitor.state["think_ms"]
            assert total <= 1000 * (time.monotonic() - began)  # no moment counts twice
            saved = server.backend.rooms.games.store.games.find(game.id)
            if saved is not None:  # it is not finished yet
                assert sum(replayed(saved, game.info).think_ms) == total
            visitor.leave()
            while game.id in server.backend.rooms.open:  # it lingers only while it is played
                await asyncio.sleep(0.01)

    asyncio.run(play())


def test_the_clock_of_a_loaded_game_has_run_meanwhile():
    """The clock runs on while a game is not loaded, except while the server is down."""
    long_ago = ThinkingClock.resumed("2020-01-01T00:00:00.000000Z")
    assert 0 < time.monotonic() - long_ago.since < 10_000  # since this process began, not 2020


def test_the_clock_follows_other_processes(tmp_path):
    """A move from another process restarts the clock and counts with its time."""
    with open_store(f"sqlite:///{tmp_path / 'store'}") as store:
        games = GameService(store)
        store.accounts.add_bot("bot", "Bot", "person", "token", most=1)
        here = games.begin_game("bot", RULES, "bot")
        there = games.load(here.id)
        for number in (1, 2):
            there.clock.since = 0.0
            there.move(number, there.session.game.legal_directions()[0], arrived=0.5)
        change = there.tracked.take_change()
        store.changes.write([change])
        began = time.monotonic()
        assert here.apply(change)
        assert here.think_ms == there.think_ms == 500
        assert here.clock.since >= began


# Playing


def test_the_command_plays_for_the_board_of_programs(web_server, monkeypatch, capfd, connect):
    """The command's games appear on the programs' leaderboard; unfinished ones are continued."""
    _, token = token_for(web_server, "Command")
    monkeypatch.setenv("PY2048_TOKEN", token)
    begun = connect(web_server.url, token).new_game(RULES)
    begun.play(begun.position.legal_directions()[0])
    words = ["bot", "greedy", "--server", web_server.url, "--rules", RULES]
    assert main([*words, "--games", "3", "--jobs", "2"]) == 0
    printed = capfd.readouterr().out
    assert printed.count(" ms a move: ") == 3
    assert begun.url in printed
    assert "3 games: mean " in printed
    assert boards_of(web_server, "Command") == {"bot"}
    page = Browser(web_server).get(f"/leaderboards?rules={RULES}&board=bot").text
    assert re.search(r">Command<.*?[\d.]+ ms a move", page, re.DOTALL)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--server", "localhost"], "'localhost' is not a server address"),
        (["--server", "http://127.0.0.1:1"], "http://127.0.0.1:1 does not answer"),
        (["--server", "{url}/nowhere"], "404 Not Found: is it the address of a py2048 server?"),
        (["--token-file", "{wrong}"], "invalid or has been revoked: make a new one on"),
        (["--token-file", "nowhere"], "cannot read the token in nowhere: No such file"),
        (["--rules", "17x17"], "size=17x17 is too large here"),
        ([], "there is no token: set PY2048_TOKEN"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_the_command_refuses_in_one_line(web_server, tmp_path, monkeypatch, capfd, options, fault):
    """Errors take one line with the value and a remedy; no socket stays open."""
    monkeypatch.delenv("PY2048_TOKEN", raising=False)
    wrong = tmp_path / "token"
    wrong.write_text("no-such-token\n")
    if options[:1] == ["--server"]:
        monkeypatch.setenv("PY2048_TOKEN", "anything")
    elif options and options[0] != "--token-file":
        monkeypatch.setenv("PY2048_TOKEN", token_for(web_server, f"Wrong {len(options[0])}")[1])
    filled = [each.format(url=web_server.url, wrong=wrong) for each in options]
    assert main(["bot", "quick", "--server", web_server.url, *filled]) == 2
    lines = capfd.readouterr().err.splitlines()
    assert fault in lines[-1]
    gc.collect()  # which tells of sockets that are left open


async def test_a_program_plays_over_the_socket(web_server):
    """A token identifies the program, which can play bot games only."""
    _, program = await asyncio.to_thread(with_program, web_server, "Socket bot")
    async with program.socket() as socket:
        assert socket.hello["me"]["name"] == "Socket bot"
        assert (await socket.ask("new", "state", rules="2x4"))["mode"] == "bot"
        await socket.move()
        assert (await socket.ask("undo", "refused", number=2))["reason"] == "mode"
        for mode in ("ranked", "casual", "daily"):
            assert (await socket.ask("new", "refused", mode=mode))["reason"] == "mode"


def test_the_example_plays_for_the_programs_board(web_server):
    """The example program's games appear on the programs' leaderboard only."""
    person, token = token_for(web_server, "Babbage engine")
    done = python(EXAMPLES / "bot.py", web_server.url, RULES, check=True, PY2048_TOKEN=token)
    points, _, page = done.stdout.strip().partition(" points: ")
    assert boards_of(web_server, "Babbage engine") == {"bot"}
    shown = person.get("/player/Babbage%20engine").text
    assert "A program of" in shown
    assert "Owner of Babbage engine" in shown
    record = person.get(page.removeprefix(web_server.url) + "/record").json()
    assert (record["player"], str(record["score"])) == ("Babbage engine", points)


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl")
def test_a_shell_script_plays(web_server):
    """The example script needs only curl and follows its game's stream."""
    _, token = token_for(web_server, "Shell")
    run = partial(subprocess.run, capture_output=True, text=True, timeout=100, check=False)
    words = ["sh", EXAMPLES / "bot.sh", web_server.url]
    done = run([*words, "classic:size=2x2"], env=os.environ | {"PY2048_TOKEN": token})
    assert re.fullmatch(rf"{web_server.url}/game/\w+\n", done.stdout)
    assert boards_of(web_server, "Shell", "classic:size=2x2") == {"bot"}
    refused = run(words, env=os.environ | {"PY2048_TOKEN": "none"})
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "this token is invalid" in refused.stderr


def test_the_stream_tells_each_move_once(web_server, connect):
    """The stream sends the state and then each version until the end, also to strangers."""
    _, token = token_for(web_server, "Streamer")
    game = connect(web_server.url, token).new_game(RULES)
    stream = connect(web_server.url, token).stream(game.id)
    versions = [next(stream)["version"]]
    player = make_player("random:seed=1")
    while not game.is_over:
        game.play(player.choose(game.position))
    told = list(stream)
    versions += [each["version"] for each in told]
    assert versions == list(range(len(versions)))
    assert told[-1]["board"] == game.state["board"]
    watching = Browser(web_server).get(f"/api/games/{game.id}/stream")
    assert watching.headers["Content-Type"] == "application/x-ndjson"
    assert json.loads(watching.text)["outcome"] == game.state["outcome"]


def test_a_move_is_never_made_twice(web_server, connect):
    """A repeated request returns the state without moving again."""
    _, token = token_for(web_server, "Repeater")
    client = connect(web_server.url, token)
    game = client.new_game(RULES)
    before = RemoteGame(client, game.state)
    legal = game.position.legal_directions()
    game.play(legal[0])
    before.play(legal[-1])
    assert before.state["version"] == 1
    assert before.board == game.board
    illegal = [each for each in Direction if each not in game.position.legal_directions()]
    if illegal:
        with pytest.raises(IllegalMoveError, match=f"{illegal[0]} changes nothing on"):
            game.play(illegal[0])


def test_a_server_that_stops_ends_its_streams(tmp_path, connect):
    """A stopping server ends its streams at once, and the client reports that it retries."""
    with serving(tmp_path, *GENEROUS) as server:
        client = connect(server.url, token_for(server, "Reader")[1], timeout_s=0.0)
        watcher = _Watcher(client, client.new_game(RULES).id)
        until(lambda: watcher.messages)
        assert server.stop() == 0
        assert not [line for line in server.logged() if "timeout" in line["message"]]
        watcher.join(60)
        assert watcher.fault.endswith("has ended the stream")


class _Watcher(threading.Thread):
    """Reads a game's stream to its end."""

    def __init__(self, client: BotClient, game: str) -> None:
        super().__init__(daemon=True)
        self._client, self._game = client, game
        self.messages: list[dict[str, Any]] = []
        self.fault = ""
        self.start()

    def run(self) -> None:
        try:
            for message in self._client.stream(self._game):
                self.messages.append(message)
        except ClientError as error:
            self.fault = str(error)


@contextmanager
def replying(*replies: Sequence[str | float]) -> Iterator[str]:
    """Respond to each request with the next item: lines to send or seconds to wait."""
    following = iter(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            for part in next(following):
                if isinstance(part, str):
                    self.wfile.write(part.encode() + b"\n")
                else:
                    time.sleep(part)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_stream_that_was_quiet_for_long_is_opened_again(connect):
    """The client's timeout covers missing servers, not games without moves."""
    begun, over = {"version": 0, "outcome": "playing"}, {"version": 1, "outcome": "lost"}
    with replying((json.dumps(begun), "", 0.8, ""), (json.dumps(over),)) as url:
        assert list(connect(url, "token", timeout_s=0.6).stream("game")) == [begun, over]


def test_another_server_is_recognized(connect):
    """The client reports if a JSON server is not a py2048 server."""
    with (
        replying(('{"name": "nginx"}',)) as url,
        pytest.raises(ClientError, match="is not a py2048 server"),
    ):
        connect(url, "token").me()


def test_a_game_as_long_as_a_game_may_be_is_not_played_for_ever(connect, monkeypatch):
    """The client fails if the server accepts no more moves in a game that is not over."""
    client = connect("http://127.0.0.1:1", "token")
    state = {"game": "g", "rules": {"text": RULES}, "version": 10**6, "outcome": "playing"}
    refusal = ClientError("the game ends here", 409, "over")

    def request(method: str, *_: object) -> dict[str, Any]:
        if method == "POST":
            raise refusal
        return state

    monkeypatch.setattr(client, "request", request)
    with pytest.raises(ClientError) as caught:
        RemoteGame(client, state).play(Direction.LEFT)
    assert caught.value is refusal


# Limits


async def test_a_hasty_program_is_held_back_then_refused():
    """A short wait delays the program; a long one is rejected with the time to wait."""
    limits = RateLimits(
        ServerSettings(key="k" * 16, bot_moves_rate=1000.0, bots_rate=2.0), Metrics()
    )
    began = time.monotonic()
    for account in "aaab":
        await limits.pace(account, is_program=True)
    assert time.monotonic() - began >= 0.49  # a second's worth at once, and half a second
    with pytest.raises(ActionRejected, match="at most 1000 moves a second") as caught:
        await asyncio.gather(*(limits.pace("c", is_program=True) for _ in range(8)))
    assert caught.value.reason == "rate"
    assert caught.value.wait_s > 2


def test_the_client_waits_as_long_as_it_is_told(web_server, connect):
    """The client honours Retry-After, reports it and continues."""
    _, token = token_for(web_server, "Hasty")
    browser = Browser(web_server, headers={"Authorization": f"Bearer {token}"})
    answers = (browser.post("/api/games", {"rules": RULES}) for _ in range(90))
    refused = next(each for each in answers if each.status == 429)
    assert refused.json()["reason"] == "busy"
    assert 0 < refused.json()["retry_ms"] <= 1000 * int(refused.headers["Retry-After"])
    said: list[str] = []
    client = connect(web_server.url, token, say=said.append)
    while not said:
        assert client.new_game(RULES).ply == 0
    assert "too many new games: wait a moment: trying again in" in said[0]
    impatient = connect(web_server.url, token, timeout_s=0.0)
    with pytest.raises(ClientError, match="too many new games"):
        list(map(impatient.new_game, [RULES] * 60))


# Tokens


def test_a_token_is_listed_with_its_use_and_can_be_revoked(web_server, connect):
    """The page lists a token's creation and last use; revoking it takes effect at once."""
    person, token = token_for(web_server, "Listed")
    assert "not used yet" in person.get("/account").text
    client = connect(web_server.url, token)
    assert client.me()["person"] == "Owner of Listed"
    page = person.get("/account").text
    assert "last used" in page
    assert "not used yet" not in page
    assert token not in page
    bot = re.findall(r'name="bot" value="(\w+)"', page)[0]
    stranger, _ = token_for(web_server, "Unlisted")
    assert stranger.form("/account/token-end", bot=bot).status == 404
    assert person.form("/account/token-end", bot=bot).status == 303
    with pytest.raises(ClientError, match="account#programs") as caught:
        client.me()
    assert caught.value.status == 401
    assert "No token" in person.get("/account").text


def test_tokens_are_renewed_and_end_with_their_program(web_server):
    """Renewing a token invalidates the old one, and nobody can manage another person's programs."""
    person, program = with_program(web_server, "Token bot")
    assert program.post("/api/games", {}).status == 201
    bot = re.findall(r'name="bot" value="(\w+)"', person.get("/account").text)[0]
    stranger, _ = with_program(web_server, "Thief bot")
    assert stranger.form("/account/token", bot=bot).status == 404
    assert stranger.form("/account/bot-delete", bot=bot).status == 404
    token = token_on(person.form("/account/token", bot=bot).text)
    refused = program.post("/api/games", {})
    assert refused.status == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    program.headers["Authorization"] = f"bearer {token}"
    assert program.post("/api/games", {}).status == 201
    assert "<h1>guest" in program.get("/account").text
    assert person.form("/account/login", name="Token bot", password="").status == 403
    assert person.form("/account/bot-delete", bot=bot).status == 303
    assert program.post("/api/games", {}).status == 401
    assert person.get("/player/Token%20bot").status == 404


def test_a_session_is_no_token(web_server):
    """A person's session cookie is not accepted as a program's token."""
    person, _ = with_program(web_server, "Cookie bot")
    for part in re.findall(r"[\w-]{20,}", person.cookie):
        client = Browser(web_server, headers={"Authorization": f"Bearer {part}"})
        assert client.post("/api/games", {}).status == 401


def test_a_person_has_a_few_programs(web_server):
    """A person can have five programs, whose names differ from all account names."""
    person, _ = with_program(web_server, "Number one")
    assert person.form("/account/bot", name="owner of number one").status == 403
    for name in ("Number two", "Number three", "Number four", "Number five"):
        assert person.form("/account/bot", name=name).status == 200
    refused = person.form("/account/bot", name="Number six")
    assert refused.status == 403
    assert "5 programs" in refused.text
