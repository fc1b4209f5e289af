"""``serve``, ``bot``, ``backup`` and ``restore``: the web server, its programs and its store."""

from __future__ import annotations

import os
import queue
import threading
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.options import QuietOption, RulesOption, SizeOption, chosen_rules
from py2048.cli.streams import INTERRUPTED, StatusLine, complain
from py2048.errors import ClientError, os_errors_as
from py2048.game import Game
from py2048.players import list_players

if TYPE_CHECKING:
    from py2048.client import BotClient, RemoteGame
    from py2048.players import Player

TOKEN = "PY2048_TOKEN"
_MAX_TOKEN_BYTES = 1000


class Durability(StrEnum):
    """What an acknowledged move outlives."""

    DISK = "disk"
    PROCESS = "process"


class LogLevel(StrEnum):
    """What to write down."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


DatabaseOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The database, such as postgresql://user:password@host/name or sqlite:///file. "
        "By default PY2048_DATABASE_URL, else a file in the data folder.",
    ),
]


def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")
    ] = 2048,
    database: DatabaseOption = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Where browsers find the server, if it is behind a proxy."
        ),
    ] = None,
    trusted_proxies: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESSES",
            help="Proxies that are believed about where a visitor comes from: addresses and "
            "networks with commas, such as 127.0.0.1,10.0.0.0/8. By default "
            "PY2048_TRUSTED_PROXIES, else this machine's if there is a --public-url.",
        ),
    ] = None,
    moves_rate: Annotated[
        float,
        typer.Option(min=0.1, max=1e9, help="Moves a second that one player may make for long."),
    ] = 30.0,
    bot_moves_rate: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=1e9,
            help="Moves a second that one program may make; it is held back beyond.",
        ),
    ] = 100.0,
    bots_rate: Annotated[
        float,
        typer.Option(min=0.1, max=1e9, help="Moves a second of all programs together."),
    ] = 200.0,
    address_rate: Annotated[
        float,
        typer.Option(
            min=0.1, max=1e9, help="Messages a second from one address, a class together."
        ),
    ] = 600.0,
    requests_rate: Annotated[
        float,
        typer.Option(min=0.1, max=1e9, help="Requests a second for pages, from one address."),
    ] = 30.0,
    sockets: Annotated[
        int, typer.Option(min=1, help="Players connected at the same time, in all.")
    ] = 5000,
    sockets_per_address: Annotated[
        int, typer.Option(min=1, help="Players connected at the same time from one address.")
    ] = 200,
    reviews: Annotated[
        int,
        typer.Option(
            min=0, help="Finished games reviewed at the same time; 0 switches reviews off."
        ),
    ] = 1,
    workers: Annotated[
        int,
        typer.Option(
            min=1, max=256, help="Processes that serve together, one for each core, on PostgreSQL."
        ),
    ] = 1,
    durability: Annotated[
        Durability,
        typer.Option(
            help="What an acknowledged move outlives: disk, a power cut too; process, the end of "
            "the server, which is faster on SQLite."
        ),
    ] = Durability.DISK,
    log_level: Annotated[LogLevel, typer.Option(help="What to write to standard error.")] = (
        LogLevel.INFO
    ),
) -> int:
    """Serve the game to browsers, until you press Ctrl+C. Needs the extra web."""
    options = locals()
    from py2048.server import serve as serve_with
    from py2048.server.settings import Settings, find_key, find_proxies
    from py2048.storage import data_folder

    level = options.pop("log_level")
    options["trusted_proxies"] = find_proxies() if trusted_proxies is None else trusted_proxies
    serve_with(Settings(key=find_key(data_folder()), **options), level)
    return 0


def backup(
    file: Annotated[
        Path,
        typer.Argument(
            help="The file to write, such as monday.2048.jsonl.gz; a folder with --keep."
        ),
    ],
    database: DatabaseOption = None,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="FILE is a folder: write a file with the time in its name, and keep this "
            "many of the newest.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace a file that exists.")] = False,
) -> int:
    """Copy the whole store, with all games and accounts, to FILE. Players can play meanwhile."""
    from py2048.storage import backups, open_store

    with open_store(database) as store:
        if keep is None:
            rows = backups.back_up(store, file, replace=force)
        else:
            file, rows = backups.back_up_into(store, file, keep)
    print(f"{file}: {rows:,} rows of {store.name}")
    return 0


def restore(
    file: Annotated[Path, typer.Argument(help="A file that backup has written.")],
    database: DatabaseOption = None,
) -> int:
    """Fill an empty store, of any kind of database, from the backup in FILE."""
    from py2048.storage import backups, open_store

    with open_store(database) as store:
        rows = backups.restore(store, file)
    print(f"{store.name}: {rows:,} rows of {file}")
    return 0


# --- programs that play on a server --------------------------------------------------------------


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
            help=f"A file that holds the program's token; by default it is in {TOKEN}.",
        ),
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", min=1, metavar="N", help="Games.")] = 1,
    rules: RulesOption = None,
    size: SizeOption = None,
    parallel: Annotated[
        int,
        typer.Option(
            *("--parallel", "-j"), min=1, max=1024, metavar="N", help="Games at the same time."
        ),
    ] = 1,
    quiet: QuietOption = False,
) -> int:
    """Let PLAYER play on a server, by the token of a program made on its account page.

    Unfinished games of the same rules are continued first. Ctrl-C stops.
    """
    from py2048.client import BotClient
    from py2048.players import make_player

    say = (lambda _: None) if quiet else complain
    wanted, token = chosen_rules(rules, size), _token(token_file)
    clients = [BotClient(server, token, say=say) for _ in range(min(parallel, games))]
    players = [make_player(player) for _ in clients]
    me = clients[0].me()
    with StatusLine(quiet=quiet):  # compile before the clock runs
        players[0].choose(Game(wanted, seed=0))
    say(f"{players[0].name} plays as {me['name']} on {clients[0].server}")
    begun = [each["game"] for each in me["games"] if each["rules"] == str(wanted)]
    plan = iter([*begun, *[None] * games][:games])  # each thread takes the next one
    done: queue.SimpleQueue[RemoteGame | Exception] = queue.SimpleQueue()

    def play(client: BotClient, player: Player) -> None:
        try:
            with client:
                for game_id in plan:
                    game = client.open_game(game_id) if game_id else client.new_game(wanted)
                    game.play_out(player)
                    done.put(game)
        except Exception as error:  # noqa: BLE001 - it is raised in the main thread
            done.put(error)

    threads = [
        threading.Thread(target=play, args=pair, daemon=True)
        for pair in zip(clients, players, strict=True)
    ]
    for thread in threads:
        thread.start()
    scores: list[int] = []
    try:
        while len(scores) < games:
            game = done.get()
            if isinstance(game, Exception):
                raise game
            scores.append(game.score)
            print(
                f"{game.score:,} points, largest tile {game.board.max_tile}, {game.ply:,} moves,"
                f" {game.think_ms / max(1, game.ply):.2f} ms a move: {game.url}",
                flush=True,
            )
    except KeyboardInterrupt:
        complain("stopped; the same command continues the games in progress")
        return INTERRUPTED
    for thread in threads:
        thread.join()
    if games > 1:
        mean = sum(scores) / len(scores)
        print(f"{len(scores):,} games: mean {mean:,.0f}, best {max(scores):,}")
    return 0


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
