"""Commands ``serve``, ``bot``, ``backup`` and ``restore``."""

from __future__ import annotations

import os
import queue
import threading
from dataclasses import fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from py2048.app.storage import data_folder
from py2048.core.errors import ClientError, os_errors_as
from py2048.core.game import Game
from py2048.presentation import options
from py2048.presentation.streams import INTERRUPTED, StatusLine, complain
from py2048.server import ServerSettings, find_key
from py2048.server import serve as serve_with

if TYPE_CHECKING:
    from py2048.client import RemoteGame
    from py2048.players import Player

TOKEN = "PY2048_TOKEN"
_MAX_TOKEN_BYTES = 1000
LogLevel = Literal["debug", "info", "warning", "error"]


def _server_options() -> dict[str, Parameter]:
    """Return the command-line parameters for the log level and the options in `ServerSettings`."""
    kinds = get_type_hints(ServerSettings)
    level = typer.Option(help="Minimum level of messages on standard error.")
    options = {
        each.name: (each.default, Annotated[kinds[each.name], typer.Option(**each.metadata)])
        for each in fields(ServerSettings)
        if each.metadata
    } | {"log_level": ("info", Annotated[LogLevel, level])}
    return {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (default, kind) in options.items()
    }


def serve(**options: Any) -> None:
    """Serve the game to browsers until you press Ctrl+C. Needs the extra web."""
    level = options.pop("log_level")
    serve_with(ServerSettings(find_key(data_folder()), **options), level)


_OPTIONS = _server_options()
serve.__signature__ = Signature([*_OPTIONS.values()])  # type: ignore[attr-defined]  # for Typer
DatabaseOption = Annotated[str | None, *_OPTIONS["database"].annotation.__metadata__]


def backup(
    file: Annotated[
        Path,
        options.word(
            "FILE", "The file to write, such as monday.2048.jsonl.gz, or a folder with --keep."
        ),
    ],
    database: DatabaseOption = None,
    keep: Annotated[
        int | None,
        options.counting(
            "Write a file named after the time to the folder FILE, and keep this many files."
        ),
    ] = None,
    force: options.ForceOption = False,
) -> None:
    """Copy the database with all games and accounts to FILE. The server can keep running."""
    from py2048.app.storage import backups, open_store

    with open_store(database) as store:
        if keep is None:
            rows = backups.back_up(store, file, replace=force)
        else:
            file, rows = backups.back_up_into(store, file, keep)
    print(f"{file}: {rows:,} rows of {store.name}")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file written by backup.")],
    database: DatabaseOption = None,
) -> None:
    """Fill an empty database from the backup in FILE. The kind of database may differ."""
    from py2048.app.storage import backups, open_store

    with open_store(database) as store:
        rows = backups.restore(store, file)
    print(f"{store.name}: {rows:,} rows of {file}")


# --- programs that play on a server --------------------------------------------------------------


def bot(
    player: Annotated[str, options.word("PLAYER", options.PLAYER, options.player_words)],
    server: Annotated[
        str, options.taking("URL", "The server, such as https://2048.example.org.")
    ] = "http://127.0.0.1:2048",
    token_file: Annotated[
        Path | None,
        options.taking(
            "FILE", f"A file with the program's token; by default the token is read from {TOKEN}."
        ),
    ] = None,
    games: options.GamesOption = 1,
    rules: options.RulesOption = None,
    size: options.SizeOption = None,
    jobs: options.JobsOption = 1,
    quiet: options.QuietOption = False,
) -> int:
    """Let PLAYER play on a server, with a program's token from the account page.

    Unfinished games with the same rules are continued first. Ctrl+C stops the program.
    """
    from py2048.client import BotClient
    from py2048.players import make_player

    say = (lambda _: None) if quiet else complain
    wanted, token = options.chosen_rules(rules, size), _token(token_file)
    players = [make_player(player) for _ in range(min(jobs or 1, games))]
    with BotClient(server, token, say=say) as asking:
        me = asking.me()
    with StatusLine(quiet=quiet):  # compile before the server measures thinking time
        players[0].choose(Game(wanted, seed=0))
    say(f"{players[0].name} plays as {me['name']} on {asking.server}")
    begun = [each["game"] for each in me["games"] if each["rules"] == str(wanted)]
    plan = iter([*begun, *[None] * games][:games])  # shared by the threads
    done: queue.SimpleQueue[RemoteGame | Exception] = queue.SimpleQueue()

    def play(player: Player) -> None:
        try:
            with BotClient(server, token, say=say) as client:
                for game_id in plan:
                    game = client.open_game(game_id) if game_id else client.new_game(wanted)
                    game.play_out(player)
                    done.put(game)
        except Exception as error:  # noqa: BLE001 - reraised in the main thread
            done.put(error)

    threads = [threading.Thread(target=play, args=(each,), daemon=True) for each in players]
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
    """Return the program's token from a file or from the environment.

    Raises:
        ClientError: If there is none.
    """
    if file is not None:
        with os_errors_as(ClientError, f"cannot read the token in {file}"), file.open("rb") as text:
            return text.read(_MAX_TOKEN_BYTES).decode(errors="replace").strip()
    if not (token := os.environ.get(TOKEN, "").strip()):
        raise ClientError(
            f"there is no token: set {TOKEN} or use --token-file; you can create a token on the"
            " account page of the server"
        )
    return token
