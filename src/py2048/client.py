"""A client for programs that play on a py2048 server; it needs ``pip install 'py2048[bot]'``.

::

    with BotClient("https://2048.example.org", token) as client:
        game = client.new_game("classic", "100ms")
        while not game.is_over:
            game.play(player.choose(game.position))

Moves have numbers, so one whose answer was lost is sent again without harm: whatever breaks, the
server or the way to it, the game continues where it was. See docs/how-to/write-a-bot.md.
"""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Self

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import ClientError, IllegalMoveError, extra_for, shown
from py2048.core.game import Game
from py2048.core.rules import Rules
from py2048.players import Player

with extra_for("playing on a server", "bot"):
    import httpx

Json = dict[str, Any]
AWAY_TIMEOUT_S = 300.0
"""Seconds for which a server may be away in the middle of a game."""

_TIMEOUT_S = 30.0
"""The time for an answer; a stream sends something every ten seconds."""

_FIRST_WAIT_S, _MAX_WAIT_S = 0.25, 10.0
_LATER = (429, 502, 503, 504)
"""The statuses of answers that will be others after a while."""


class BotClient:
    """Speaks to a server with the token of a program. Not for several threads at a time.

    Args:
        server: where it is, such as ``https://2048.example.org``.
        token: the token, from the account page.
        say: is called with a line when something is waited for, and when that is over.
        timeout_s: seconds for which the server may be away, or busy, before an error is raised.

    Raises:
        ClientError: if there cannot be such an address or token.
    """

    def __init__(
        self,
        server: str,
        token: str,
        *,
        say: Callable[[str], None] = lambda _: None,
        timeout_s: float = AWAY_TIMEOUT_S,
    ) -> None:
        self.server = server.rstrip("/")
        if not _is_address(self.server):
            raise ClientError(
                f"{server!r} is not the address of a server: write such as http://localhost:2048"
            )
        if not re.fullmatch(r"[!-~]+", token):
            raise ClientError(
                "the token is empty, or has spaces or letters that no token has: copy it from the "
                "account page"
            )
        self._http = httpx.Client(
            base_url=self.server,
            headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"},
            timeout=_TIMEOUT_S,
            trust_env=False,  # a password for the host in ~/.netrc would replace the token
            verify=ssl.create_default_context(),  # with the system's own authorities
        )
        self._say = say
        self._timeout_s = timeout_s
        self._told = ""

    def me(self) -> Json:
        """Return the program's ``name``, its ``person`` and its ``games`` in progress.

        Raises:
            ClientError: if there is no such server, at the first attempt, or it refuses the token.
        """
        found = self.request("GET", "/api/bot", timeout_s=0.0)
        if not {"name", "person", "games"} <= found.keys():
            raise self._stranger()
        return found

    def new_game(self, rules: Rules | str = "classic") -> RemoteGame:
        """Begin a game.

        If the answer is lost on its way another game is begun; the first one stays in `me`.

        Raises:
            ClientError: if the server refuses it.
        """
        return RemoteGame(self, self.request("POST", "/api/games", {"rules": str(rules)}))

    def open_game(self, game_id: str) -> RemoteGame:
        """Return a game in progress, to play on.

        Raises:
            ClientError: if there is none.
        """
        return RemoteGame(self, self.request("GET", f"/api/games/{game_id}"))

    def stream(self, game_id: str) -> Iterator[Json]:
        """Yield what happens in a game, the moves of others too, until it is over.

        The first message is the whole state; so is the first one after the stream was broken and
        opened again, which may repeat what is known: ``version`` tells.

        Raises:
            ClientError: if there is no such game, or the server stays away.
        """
        outcome, away_since, wait = "playing", 0.0, _FIRST_WAIT_S
        while outcome == "playing":
            try:
                with self._http.stream("GET", f"/api/games/{game_id}/stream") as response:
                    if response.status_code != 200:
                        response.read()
                        raise self._refusal(response)
                    self._note_success()
                    for line in filter(str.strip, response.iter_lines()):
                        message = self._object(line)
                        outcome = message.get("outcome", outcome)
                        away_since, wait = 0.0, _FIRST_WAIT_S
                        yield message
                fault = f"{self.server} has ended the stream"
            except httpx.TransportError as error:
                fault = f"{self.server} does not answer ({_cause(error)})"
            except ClientError as error:
                if error.status not in _LATER:
                    raise
                fault = str(error)
            if outcome == "playing":
                away_since = away_since or time.monotonic()
                wait = self._wait(fault, wait, wait, away_since + self._timeout_s)

    def request(
        self, method: str, path: str, value: Json | None = None, *, timeout_s: float | None = None
    ) -> Json:
        """Return the answer to a request, which is repeated while the server is away or busy.

        Args:
            method: ``GET`` or ``POST``.
            path: the path, such as ``/api/bot``.
            value: what to send.
            timeout_s: seconds after which it is given up; by default those of the client.

        Raises:
            ClientError: if the server refuses it, or stays away.
        """
        until = time.monotonic() + (self._timeout_s if timeout_s is None else timeout_s)
        wait = _FIRST_WAIT_S
        while True:
            try:
                response = self._http.request(method, path, json=value)
            except httpx.TransportError as error:
                fault, pause = f"{self.server} does not answer ({_cause(error)})", wait
            else:
                if response.is_success:
                    self._note_success()
                    return self._object(response.content)
                refused = self._refusal(response)
                if response.status_code not in _LATER:
                    raise refused
                fault, pause = str(refused), refused.wait or wait
            wait = self._wait(fault, pause, wait, until)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

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
        return min(2 * wait, _MAX_WAIT_S)

    def _note_success(self) -> None:
        if self._told:
            self._say(f"{self.server} answers again")
            self._told = ""

    def _object(self, text: bytes | str) -> Json:
        with suppress(ValueError):
            if isinstance(found := json.loads(text), dict):
                return found
        raise self._stranger()

    def _stranger(self) -> ClientError:
        return ClientError(f"{self.server} is not a py2048 server: is it the right address?")

    def _refusal(self, response: httpx.Response) -> ClientError:
        """Return what a server says that does not do what it is asked."""
        answer: Json = {}
        with suppress(ClientError):
            answer = self._object(response.content)
        status, headers = response.status_code, response.headers
        says = answer.get("error", f"{status} {response.reason_phrase}")
        if status == 401:
            says = f"{says}: make a new one on {self.server}/account#programs"
        elif "Location" in headers:
            says = f"{says}: use {headers['Location'].removesuffix('/api/bot')}"
        elif "error" not in answer and status not in _LATER:
            says = f"{says}: is it the address of a py2048 server?"
        retry = headers.get("Retry-After", "")
        wait = answer.get("retry_ms", 0) / 1000 or (float(retry) if retry.isdecimal() else 0.0)
        return ClientError(f"{self.server}: {says}", status, answer.get("reason", ""), wait)


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


def _is_address(server: str) -> bool:
    with suppress(httpx.InvalidURL):
        url = httpx.URL(server)
        is_text = server.isascii() and not re.search(r"\s", server)
        return is_text and url.scheme in ("http", "https") and bool(url.host)
    return False


def _cause(error: httpx.TransportError) -> str:
    return str(error) or type(error).__name__
