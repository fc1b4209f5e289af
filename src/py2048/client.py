"""Client for bots that play on a py2048 server; requires the extra ``bot``.

`BotClient` connects to a server, `BotClient.new_game` starts a game, and `RemoteGame.play` and
`RemoteGame.play_out` make moves. ``examples/bot.py`` is a complete bot.

Moves are numbered, so the client can safely resend a move whose response was lost. After a server
or network failure, the game continues at the last saved move. See docs/how-to/write-a-bot.md.
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
"""Default retry period while the server is unreachable, in seconds."""

_HTTP_TIMEOUT_S = 30.0
"""HTTP timeout in seconds. Event streams send a message at least every ten seconds."""

_FIRST_WAIT_S, _MAX_WAIT_S = 0.25, 10.0
_RETRY_STATUSES = (429, 502, 503, 504)
"""HTTP status codes of temporary failures, which are retried."""


class BotClient:
    """An authenticated connection to a py2048 server. This class is not thread-safe.

    Args:
        server: The server's URL, such as ``https://2048.example.org``.
        token: The bot's token, from the account page.
        say: Called with a message whenever the client starts or stops waiting for the server.
        timeout_s: Seconds to keep retrying while the server is unreachable or busy.

    Raises:
        ClientError: If the URL or the token is malformed.
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
                f"{server!r} is not a server address: give a URL such as http://localhost:2048"
            )
        if not re.fullmatch(r"[!-~]+", token):
            raise ClientError(
                "the token is empty or has characters that never occur in tokens: copy it from the "
                "account page"
            )
        # Ignores ~/.netrc, whose credentials would replace the token, and uses the system's
        # certificates.
        self._http = httpx.Client(
            base_url=self.server,
            headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"},
            timeout=_HTTP_TIMEOUT_S,
            trust_env=False,
            verify=ssl.create_default_context(),
        )
        self._say = say
        self._timeout_s = timeout_s
        self._outage_message = ""

    def me(self) -> Json:
        """Return the bot's ``name``, the ``person`` who owns it, and its ``games`` in progress.

        Raises:
            ClientError: If the server is unreachable or rejects the token. A failed request is not
                retried.
        """
        found = self.request("GET", "/api/bot", timeout_s=0.0)
        if not {"name", "person", "games"} <= found.keys():
            raise self._protocol_error()
        return found

    def new_game(self, rules: Rules | str = "classic") -> RemoteGame:
        """Start a game.

        If the response is lost, the retried request starts a second game. `me` lists both games.

        Raises:
            ClientError: If the server refuses the request.
        """
        return RemoteGame(self, self.request("POST", "/api/games", {"rules": str(rules)}))

    def open_game(self, game_id: str) -> RemoteGame:
        """Return a game in progress, so that the bot can continue it.

        Raises:
            ClientError: If there is no such game.
        """
        return RemoteGame(self, self.request("GET", f"/api/games/{game_id}"))

    def stream(self, game_id: str) -> Iterator[Json]:
        """Yield the events of a game until it is over, including the moves of other players.

        The first event after each connection contains the whole state, and may repeat moves that
        you already know. Compare ``version`` to detect such moves.

        Raises:
            ClientError: If there is no such game, or the server stays unreachable.
        """
        outcome, away_since, wait = "playing", 0.0, _FIRST_WAIT_S
        while outcome == "playing":
            try:
                with self._http.stream("GET", f"/api/games/{game_id}/stream") as response:
                    if response.status_code != 200:
                        response.read()
                        raise self._error_from(response)
                    self._report_recovery()
                    for line in filter(str.strip, response.iter_lines()):
                        message = self._parse_object(line)
                        outcome = message.get("outcome", outcome)
                        away_since, wait = 0.0, _FIRST_WAIT_S
                        yield message
                fault = f"{self.server} has ended the stream"
            except httpx.TransportError as error:
                fault = f"{self.server} does not answer ({_cause(error)})"
            except ClientError as error:
                if error.status not in _RETRY_STATUSES:
                    raise
                fault = str(error)
            if outcome == "playing":
                away_since = away_since or time.monotonic()
                wait = self._wait(fault, wait, wait, away_since + self._timeout_s)

    def request(
        self, method: str, path: str, value: Json | None = None, *, timeout_s: float | None = None
    ) -> Json:
        """Send a request and return the response, retrying while the server is unreachable or busy.

        Args:
            method: ``GET`` or ``POST``.
            path: The path, such as ``/api/bot``.
            value: The JSON body.
            timeout_s: Retry period in seconds. Defaults to the client's timeout.

        Raises:
            ClientError: If the server refuses, or stays unreachable.
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
                    self._report_recovery()
                    return self._parse_object(response.content)
                failure = self._error_from(response)
                if response.status_code not in _RETRY_STATUSES:
                    raise failure
                fault, pause = str(failure), failure.wait or wait
            wait = self._wait(fault, pause, wait, until)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _wait(self, fault: str, pause: float, wait: float, until: float) -> float:
        """Report `fault`, sleep for `pause` seconds, and return the next backoff delay.

        Raises:
            ClientError: If the pause would end after the deadline `until`.
        """
        if time.monotonic() + pause > until:
            raise ClientError(fault)
        if not self._outage_message:
            self._say(f"{fault}: trying again in {pause:.1f} s")
        self._outage_message = fault
        time.sleep(pause)
        return min(2 * wait, _MAX_WAIT_S)

    def _report_recovery(self) -> None:
        if self._outage_message:
            self._say(f"{self.server} answers again")
            self._outage_message = ""

    def _parse_object(self, text: bytes | str) -> Json:
        with suppress(ValueError):
            if isinstance(found := json.loads(text), dict):
                return found
        raise self._protocol_error()

    def _protocol_error(self) -> ClientError:
        return ClientError(f"{self.server} is not a py2048 server: is it the right address?")

    def _error_from(self, response: httpx.Response) -> ClientError:
        """Return the exception for an HTTP error response."""
        answer: Json = {}
        with suppress(ClientError):
            answer = self._parse_object(response.content)
        status, headers = response.status_code, response.headers
        message = answer.get("error", f"{status} {response.reason_phrase}")
        if status == 401:
            message = f"{message}: make a new one on {self.server}/account#programs"
        elif "Location" in headers:
            message = f"{message}: use {headers['Location'].removesuffix('/api/bot')}"
        elif "error" not in answer and status not in _RETRY_STATUSES:
            message = f"{message}: is it the address of a py2048 server?"
        retry = headers.get("Retry-After", "")
        wait = answer.get("retry_ms", 0) / 1000 or (float(retry) if retry.isdecimal() else 0.0)
        return ClientError(f"{self.server}: {message}", status, answer.get("reason", ""), wait)


class RemoteGame:
    """A bot's game on a server.

    Args:
        client: The connection to the server.
        state: The game's state as sent by the server.

    Attributes:
        state: The latest state or events from the server; see docs/reference/web-protocol.md.
        id: The game's id.
        rules: The game's rules.
        url: The URL of the game's page.
    """

    def __init__(self, client: BotClient, state: Json) -> None:
        self._client = client
        self.state = state
        self.id: str = state["game"]
        self.rules = Rules.parse(state["rules"]["text"])
        self.url = f"{client.server}/game/{self.id}"

    @property
    def board(self) -> Board:
        """The current board."""
        return Board.from_rows(self.state["board"])

    @property
    def score(self) -> int:
        """The current score."""
        return int(self.state["score"])

    @property
    def ply(self) -> int:
        """Number of legal moves made."""
        return int(self.state["ply"])

    @property
    def think_ms(self) -> int:
        """Total thinking time in milliseconds, measured by the server and including latency."""
        return int(self.state["think_ms"])

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return bool(self.state["outcome"] != "playing")

    @property
    def position(self) -> Game:
        """A local copy of the game, which a player can evaluate."""
        return Game(self.rules, board=self.board)

    def play(self, direction: Direction) -> None:
        """Play a move and wait until the server has saved it.

        Raises:
            IllegalMoveError: If the move changes nothing.
            ClientError: If the server refuses, or stays unreachable.
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
                raise  # the game has reached its maximum length
        self.state = self.state | answer
        if answer.get("type") == "events" and answer["version"] < number:
            raise IllegalMoveError(f"{direction} changes nothing on {shown(str(self.board))}")

    def play_out(self, player: Player) -> None:
        """Let a player finish the game.

        Raises:
            IllegalMoveError: If the player chooses an illegal move.
            ClientError: If the server refuses, or stays unreachable.
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
