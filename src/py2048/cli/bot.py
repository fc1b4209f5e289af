"""``bot``: a player of ours, or a plugin's, that plays on a server."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.compiling import telling
from py2048.cli.options import RulesOption, SizeOption, chosen_rules, no_device, parallel
from py2048.cli.streams import INTERRUPTED
from py2048.errors import ClientError, os_errors_as
from py2048.game import Game
from py2048.players import list_players

if TYPE_CHECKING:
    from py2048.client import BotClient, RemoteGame
    from py2048.players import Player

TOKEN = "PY2048_TOKEN"
_MAX_TOKEN_BYTES = 1000


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
    parallel: Annotated[int, parallel("Games at the same time.", "--parallel")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on the way.")] = False,
) -> int:
    """Let PLAYER play on a server, by the token of a program made on its account page.

    Unfinished games of the same rules are continued first. Ctrl-C stops.
    """
    from py2048.client import BotClient
    from py2048.players import make_player

    say = (lambda _: None) if quiet else _say
    wanted, token = chosen_rules(rules, size), _token(token_file)
    clients = [BotClient(server, token, say=say) for _ in range(min(parallel, games))]
    players = [make_player(player) for _ in clients]
    me = clients[0].me()
    with telling(quiet=quiet):  # compile before the clock runs
        players[0].choose(Game(wanted, seed=0))
    say(f"{players[0].name} plays as {me['name']} on {clients[0].server}")
    begun = [each["game"] for each in me["games"] if each["rules"] == str(wanted)]
    plan: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    for game_id in [*begun, *[None] * games][:games]:
        plan.put(game_id)

    def take(client: BotClient) -> RemoteGame | None:
        """Return the next game to play, None when there are no more."""
        with suppress(queue.Empty):
            if game_id := plan.get_nowait():
                return client.open_game(game_id)
            return client.new_game(wanted)
        return None

    scores = []
    try:
        for game in _play(take, clients, players):
            scores.append(game.score)
            print(
                f"{game.score:,} points, largest tile {game.board.max_tile}, {game.ply:,} moves,"
                f" {game.think_ms / max(1, game.ply):.2f} ms a move: {game.url}",
                flush=True,
            )
    except KeyboardInterrupt:
        _say("stopped; the same command continues the games in progress")
        return INTERRUPTED
    if games > 1:
        mean = sum(scores) / len(scores)
        print(f"{len(scores):,} games: mean {mean:,.0f}, best {max(scores):,}")
    return 0


def _play(
    take: Callable[[BotClient], RemoteGame | None], clients: list[BotClient], players: list[Player]
) -> Iterator[RemoteGame]:
    """Yield each game when it is over; each client plays one after the other, in its thread.

    Raises:
        Exception: the first error of any of them.
    """
    done: queue.SimpleQueue[RemoteGame | Exception | None] = queue.SimpleQueue()

    def work(client: BotClient, player: Player) -> None:
        try:
            with client:
                while game := take(client):
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


def _token(file: Path | None) -> str:
    """Return the token in a file or in the environment.

    Raises:
        ClientError: if there is none.
    """
    if file is not None:
        with os_errors_as(ClientError, f"cannot read the token in {file}"), file.open("rb") as text:
            return text.read(_MAX_TOKEN_BYTES).decode(errors="replace").strip()
    if not (token := os.environ.get(TOKEN, "").strip()):
        raise ClientError(
            f"there is no token: set {TOKEN}, or name a file with --token-file; people make one for"
            " a program on the account page of the server"
        )
    return token


def _say(line: str) -> None:
    print(f"py2048: {line}", file=sys.stderr, flush=True)
