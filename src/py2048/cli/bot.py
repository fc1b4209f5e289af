"""``bot``: a player of ours, or a plugin's, that plays on a server."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.compiling import telling
from py2048.cli.options import RulesOption, SizeOption, chosen_rules, no_device, parallel
from py2048.cli.streams import INTERRUPTED
from py2048.errors import ClientError, os_errors_as
from py2048.players import list_players

if TYPE_CHECKING:
    from py2048.client import BotClient, RemoteGame
    from py2048.players import Player
    from py2048.rules import Rules

TOKEN = "PY2048_TOKEN"
_LONGEST_TOKEN = 1000


def bot(
    player: Annotated[
        str,
        typer.Argument(
            metavar="PLAYER",
            help="A player such as expectimax:depth=2; see py2048 players.",
            autocompletion=list_players,
        ),
    ],
    server: Annotated[
        str, typer.Option(metavar="URL", help="The server, such as https://2048.example.org.")
    ] = "http://127.0.0.1:2048",
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=no_device,
            help=f"A file that holds the program's token; by default it is in {TOKEN}.",
        ),
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", min=1, metavar="N", help="Games.")] = 1,
    rules: RulesOption = None,
    size: SizeOption = None,
    time_control: Annotated[
        str,
        typer.Option(
            metavar="CONTROL",
            help="The mean time a move: 1ms, 10ms, 100ms, 1s or unlimited.",
        ),
    ] = "unlimited",
    parallel: Annotated[int, parallel("Games at the same time.", "--parallel")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on the way.")] = False,
) -> int:
    """Let PLAYER play on a server, by the token of a program made on its account page.

    Unfinished games of the same rules and time control are continued first. Ctrl-C stops.
    """
    from py2048.client import BotClient
    from py2048.players import make_player

    say = _say_nothing if quiet else _say
    wanted, token = chosen_rules(rules, size), _token(token_file)
    clients = [BotClient(server, token, say=say) for _ in range(min(parallel, games))]
    players = [make_player(player) for _ in clients]
    with clients[0] as client:
        me = client.me()
    _warm_up(players[0], wanted, quiet=quiet)
    say(f"{players[0].name} plays as {me['name']} on {clients[0].server}")
    plan = _Plan(wanted, time_control, games, me["games"])
    played = _Played(games)
    try:
        for game in _play(plan, clients, players):
            played.add(game)
    except KeyboardInterrupt:
        _say("stopped; the same command continues the games in progress")
        return INTERRUPTED
    played.summarize()
    return 0


class _Plan:
    """The games to play: those in progress first, then new ones. For several threads."""

    def __init__(
        self, rules: Rules, control: str, games: int, in_progress: list[dict[str, object]]
    ) -> None:
        alike = {"rules": str(rules), "time_control": control}
        begun = [each["game"] for each in in_progress if alike.items() <= each.items()]
        self._games: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._rules, self._control = rules, control
        for game in [*begun, *[None] * games][:games]:
            self._games.put(None if game is None else str(game))

    def next(self, client: BotClient) -> RemoteGame | None:
        """Return the next game, None when there are no more."""
        try:
            game = self._games.get_nowait()
        except queue.Empty:
            return None
        if game is not None:
            return client.open_game(game)
        return client.new_game(self._rules, self._control)


def _play(plan: _Plan, clients: list[BotClient], players: list[Player]) -> Iterator[RemoteGame]:
    """Yield each game when it is over; each client plays one after the other, in its thread.

    Raises:
        Exception: the first error of any of them.
    """
    done: queue.SimpleQueue[RemoteGame | Exception | None] = queue.SimpleQueue()

    def work(client: BotClient, player: Player) -> None:
        try:
            with client:
                while game := plan.next(client):
                    game.play_out(player)
                    done.put(game)
            done.put(None)
        except Exception as error:  # noqa: BLE001 - it is raised in the main thread
            done.put(error)

    for pair in zip(clients, players, strict=True):
        threading.Thread(target=work, args=pair, daemon=True).start()
    working = len(clients)
    while working:
        found = done.get()
        if isinstance(found, Exception):
            raise found
        if found is None:
            working -= 1
        else:
            yield found


class _Played:
    """Prints the finished games, and all of them together."""

    def __init__(self, games: int) -> None:
        self._games = games
        self._scores: list[int] = []

    def add(self, game: RemoteGame) -> None:
        """Print a game."""
        self._scores.append(game.score)
        mean = game.think_ms / max(1, game.ply)
        print(
            f"{game.score:,} points, largest tile {game.board.max_tile}, {game.ply:,} moves,"
            f" {mean:.2f} ms a move: {game.url}",
            flush=True,
        )

    def summarize(self) -> None:
        """Print the mean and the best of several games."""
        if self._games > 1:
            mean = sum(self._scores) / len(self._scores)
            print(f"{len(self._scores):,} games: mean {mean:,.0f}, best {max(self._scores):,}")


def _token(file: Path | None) -> str:
    """Return the token in a file or in the environment.

    Raises:
        ClientError: if there is none.
    """
    if file is not None:
        with os_errors_as(ClientError, f"cannot read the token in {file}"), file.open("rb") as text:
            return text.read(_LONGEST_TOKEN).decode(errors="replace").strip()
    if not (token := os.environ.get(TOKEN, "").strip()):
        raise ClientError(
            f"there is no token: set {TOKEN}, or name a file with --token-file; people make one for"
            " a program on the account page of the server"
        )
    return token


def _warm_up(player: Player, rules: Rules, *, quiet: bool) -> None:
    """Compile what the player needs, before its clock runs."""
    from py2048.game import Game

    with telling(quiet=quiet):
        player.choose(Game(rules, seed=0))


def _say(line: str) -> None:
    print(f"py2048: {line}", file=sys.stderr, flush=True)


def _say_nothing(_line: str) -> None:
    pass
