"""A client for programs that play on a py2048 server; it needs the standard library alone.

::

    with BotClient("https://2048.example.org", token) as client:
        game = client.new_game("classic", "100ms")
        while not game.is_over:
            game.play(player.choose(game.position))

Moves have numbers, so one whose answer was lost is sent again without harm: whatever breaks, the
server or the way to it, the game goes on where it was. See docs/how-to/write-a-bot.md.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Self
from urllib.parse import urlsplit

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import ClientError, IllegalMoveError, shown
from py2048.game import Game
from py2048.players import Player
from py2048.rules import Rules

Json = dict[str, Any]
PATIENCE = 300.0
"""Seconds for which a server may be away in the middle of a game."""

_TIMEOUT = 30.0
"""Seconds for an answer; a stream sends something every ten."""

_FIRST_WAIT, _LONGEST_WAIT = 0.25, 10.0
_LATER = (429, 502, 503, 504)
"""The statuses of answers that will be others after a while."""


class BotClient:
    """Speaks to a server with the token of a program. Not for several threads at a time.

    Args:
        server: where it is, such as ``https://2048.example.org``.
        token: the token, from the account page.
        say: is called with a line when something is waited for, and when that is over.
        patience: seconds for which the server may be away, or busy, before an error is raised.

    Raises:
        ClientError: if the address or the token can be none.
    """

    def __init__(
        self,
        server: str,
        token: str,
        *,
        say: Callable[[str], None] = lambda _: None,
        patience: float = PATIENCE,
    ) -> None:
        self.server = server.rstrip("/")
        self._make_connection = _connector(self.server)
        if not re.fullmatch(r"[!-~]+", token):
            raise ClientError(
                "the token is empty, or has spaces or letters that no token has: copy it from the "
                "account page"
            )
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._say = say
        self._patience = patience
        self._connection: HTTPConnection | None = None
        self._told = ""

    def me(self) -> Json:
        """Return the program's ``name``, its ``person`` and its ``games`` in progress.

        Raises:
            ClientError: if there is no such server, at the first attempt, or it refuses the token.
        """
        found = self.request("GET", "/api/bot", patience=0.0)
        if not {"name", "person", "games"} <= found.keys():
            raise self._stranger()
        return found

    def new_game(
        self, rules: Rules | str = "classic", time_control: str = "unlimited"
    ) -> RemoteGame:
        """Begin a game.

        If the answer is lost on its way another game is begun; the first one stays in `me`.

        Raises:
            ClientError: if the server refuses it.
        """
        wanted = {"rules": str(rules), "time_control": time_control}
        return RemoteGame(self, self.request("POST", "/api/games", wanted))

    def open_game(self, game_id: str) -> RemoteGame:
        """Return a game in progress, to play on.

        Raises:
            ClientError: if there is none.
        """
        return RemoteGame(self, self.request("GET", f"/api/games/{game_id}"))

    def stream(self, game_id: str) -> Iterator[Json]:
        """Yield what happens in a game, whoever plays it, until it is over.

        The first message is the whole state; so is the first one after the stream was broken and
        opened again, which may repeat what is known: ``version`` tells.

        Raises:
            ClientError: if there is no such game, or the server stays away.
        """
        outcome, away_since, wait = "playing", 0.0, _FIRST_WAIT
        while outcome == "playing":
            try:
                for message in self._lines(f"/api/games/{game_id}/stream"):
                    outcome = message.get("outcome", outcome)
                    away_since, wait = 0.0, _FIRST_WAIT
                    yield message
                fault = f"{self.server} has ended the stream"
            except (OSError, HTTPException) as error:
                fault = f"{self.server} does not answer ({_cause(error)})"
            if outcome == "playing":
                away_since = away_since or time.monotonic()
                wait = self._wait(fault, wait, wait, away_since + self._patience)

    def request(
        self, method: str, path: str, value: Json | None = None, *, patience: float | None = None
    ) -> Json:
        """Return the answer to a request, which is repeated while the server is away or busy.

        Args:
            method: ``GET`` or ``POST``.
            path: the path, such as ``/api/bot``.
            value: what to send.
            patience: seconds after which it is given up; by default those of the client.

        Raises:
            ClientError: if the server refuses it, or stays away.
        """
        until = time.monotonic() + (self._patience if patience is None else patience)
        wait = _FIRST_WAIT
        body = None if value is None else json.dumps(value)
        while True:
            is_fresh = self._connection is None
            try:
                response, text = self._exchange(method, path, body)
            except (OSError, HTTPException) as error:
                self.close()
                if not is_fresh:  # the server ends connections on which nothing happens
                    continue
                fault, pause = f"{self.server} does not answer ({_cause(error)})", wait
            else:
                if response.status < 300:
                    self._note_success()
                    return self._object(text)
                refused = self._refusal(response, text)
                if response.status not in _LATER:
                    raise refused
                fault, pause = str(refused), refused.wait or wait
            wait = self._wait(fault, pause, wait, until)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, method: str, path: str, body: str | None) -> tuple[HTTPResponse, bytes]:
        if self._connection is None:
            self._connection = self._make_connection()
        prefix = urlsplit(self.server).path
        self._connection.request(method, prefix + path, body, self._headers)
        response = self._connection.getresponse()
        return response, response.read()

    def _lines(self, path: str) -> Iterator[Json]:
        """Yield the messages of a stream, on a connection of its own.

        Raises:
            ClientError: if the server refuses it.
            HTTPException: if it is busy.
        """
        connection = self._make_connection()
        try:
            connection.request("GET", urlsplit(self.server).path + path, headers=self._headers)
            response = connection.getresponse()
            if response.status != 200:
                refused = self._refusal(response, response.read())
                raise HTTPException(str(refused)) if response.status in _LATER else refused
            self._note_success()
            while line := response.readline():
                if line.strip():
                    yield self._object(line)
        finally:
            connection.close()

    def _wait(self, fault: str, pause: float, wait: float, until: float) -> float:
        """Wait, say why, and return how long to wait the next time if the server says nothing.

        Raises:
            ClientError: if that would be too late.
        """
        if time.monotonic() + pause > until:
            raise ClientError(fault)
        if not self._told:
            self._say(f"{fault}: trying again in {pause:.1f} s")
        self._told = fault
        time.sleep(pause)
        return min(2 * wait, _LONGEST_WAIT)

    def _note_success(self) -> None:
        if self._told:
            self._say(f"{self.server} answers again")
            self._told = ""

    def _object(self, text: bytes) -> Json:
        with suppress(ValueError):
            if isinstance(found := json.loads(text), dict):
                return found
        raise self._stranger()

    def _stranger(self) -> ClientError:
        return ClientError(f"{self.server} is no py2048 server: is it the right address?")

    def _refusal(self, response: HTTPResponse, text: bytes) -> ClientError:
        """Return what a server says that does not do what it is asked."""
        answer: Json = {}
        with suppress(ValueError):
            found = json.loads(text)
            answer = found if isinstance(found, dict) else {}
        headers = response.headers
        says = answer.get("error", f"{response.status} {response.reason}")
        if response.status == 401:
            says = f"{says}: make a new one on {self.server}/account#programs"
        elif "Location" in headers:
            says = f"{says}: use {headers['Location'].removesuffix('/api/bot')}"
        elif "error" not in answer and response.status not in _LATER:
            says = f"{says}: is it the address of a py2048 server?"
        retry = headers.get("Retry-After", "")
        wait = answer.get("retry_ms", 0) / 1000 or (float(retry) if retry.isdecimal() else 0.0)
        return ClientError(
            f"{self.server}: {says}", response.status, answer.get("reason", ""), wait
        )


class RemoteGame:
    """A game that a program plays on a server.

    Args:
        client: speaks to the server.
        state: the game's state, as the server tells it.

    Attributes:
        state: the latest state or events of the server, see docs/reference/web-protocol.md.
        id: the game.
        rules: its rules.
        url: its page.
    """

    def __init__(self, client: BotClient, state: Json) -> None:
        self._client = client
        self.state = state
        self.id: str = state["game"]
        self.rules = Rules.parse(state["rules"]["text"])
        self.url = f"{client.server}/game/{self.id}"

    @property
    def board(self) -> Board:
        """The board."""
        return Board.from_rows(self.state["board"])

    @property
    def score(self) -> int:
        """The score."""
        return int(self.state["score"])

    @property
    def ply(self) -> int:
        """How many legal moves were made."""
        return int(self.state["ply"])

    @property
    def think_ms(self) -> int:
        """The time for all moves by the server's clock, in milliseconds; the network is in it."""
        return int(self.state["think_ms"])

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return bool(self.state["outcome"] != "playing")

    @property
    def position(self) -> Game:
        """The position as a game of its own, for a player to think about."""
        return Game(self.rules, board=self.board)

    def play(self, direction: Direction) -> None:
        """Slide, and wait until the server has it on its disk.

        Raises:
            IllegalMoveError: if that changes nothing.
            ClientError: if the server refuses it, or stays away.
        """
        number = self.state["version"] + 1
        move = {"number": number, "direction": str(direction)}
        try:
            answer = self._client.request("POST", f"/api/games/{self.id}/moves", move)
        except ClientError as error:
            if error.reason not in ("gap", "over"):
                raise
            answer = self._client.request("GET", f"/api/games/{self.id}")
            if error.reason == "over" and answer["outcome"] == "playing":
                raise  # it is as long as a game may be; otherwise it was changed elsewhere
        self.state = self.state | answer
        if answer.get("type") == "events" and answer["version"] < number:
            raise IllegalMoveError(f"{direction} changes nothing on {shown(str(self.board))}")

    def play_out(self, player: Player) -> None:
        """Let a player make the moves until the game is over.

        Raises:
            IllegalMoveError, ClientError: as `play`.
        """
        while not self.is_over:
            self.play(player.choose(self.position))


def _connector(server: str) -> Callable[[], HTTPConnection]:
    """Return what opens connections to a server.

    Raises:
        ClientError: if the address is none.
    """
    kinds = {"http": HTTPConnection, "https": HTTPSConnection}
    try:
        parts = urlsplit(server)
        kind, host, port = kinds[parts.scheme], parts.hostname, parts.port
    except (KeyError, ValueError):
        host = None
    if not host or not server.isascii() or re.search(r"\s", server):
        raise ClientError(
            f"{server!r} is no address of a server: write such as http://localhost:2048"
        )
    return lambda: kind(host, port, timeout=_TIMEOUT)


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
