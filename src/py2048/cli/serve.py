"""``serve``, ``backup`` and ``restore``: the web server and its store."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from py2048.cli.options import between


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
        typer.Option(
            callback=between(0.1, 1e9), help="Moves a second that one player may make for long."
        ),
    ] = 30.0,
    bot_moves_rate: Annotated[
        float,
        typer.Option(
            callback=between(0.1, 1e9),
            help="Moves a second that one program may make; it is held back beyond.",
        ),
    ] = 100.0,
    bots_rate: Annotated[
        float,
        typer.Option(callback=between(0.1, 1e9), help="Moves a second of all programs together."),
    ] = 200.0,
    address_rate: Annotated[
        float,
        typer.Option(
            callback=between(0.1, 1e9), help="Messages a second from one address, a class together."
        ),
    ] = 600.0,
    requests_rate: Annotated[
        float,
        typer.Option(
            callback=between(0.1, 1e9), help="Requests a second for pages, from one address."
        ),
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
            help="FILE is a folder: write a file with the time in its name, and keep the newest "
            "so many.",
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
