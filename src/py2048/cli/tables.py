"""``py2048 tables``: the chance to finish an ending, from every position of a formation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.cli.compiling import StatusLine, telling
from py2048.cli.options import (
    JsonOption,
    RulesOption,
    Subcommands,
    ThreadsOption,
    board_of,
    no_device,
    print_json,
)
from py2048.cli.solve import keeping, memory_size, progress_text
from py2048.errors import SolvingError, os_errors_as
from py2048.folders import TABLE_SUFFIX, built_tables, tables_folder
from py2048.rules import get_rules

if TYPE_CHECKING:
    from py2048.solving.formations import Formation
    from py2048.solving.positions import Positions
    from py2048.solving.tables import Table

MANY = 10**7
"""How many positions take a while."""

BYTES = 0.7
"""What a position takes of a file: 0.2 to 0.7 bytes in those that were built."""

app = typer.Typer(
    cls=Subcommands,
    help="Tables of endings on 4x4: the chance to make a tile while the large ones stand still.",
    pretty_exceptions_enable=False,
)


def _formation_names() -> list[str]:
    from py2048.solving.formations import list_formations

    return [formation.name for formation in list_formations()]


TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A table in the data folder, such as L3-256, or a file.",
        autocompletion=lambda: [path.stem for path in built_tables()],
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


@app.command("list")
def list_(json: JsonOption = False) -> int:
    """List the formations that are known, and the tables in the data folder."""
    from py2048.solving.formations import list_formations

    names = [path.stem for path in built_tables()]
    if json:
        known = {each.name: each.data() for each in list_formations()}
        print_json({"formations": known, "folder": str(tables_folder()), "tables": names})
        return 0
    print("#  a large tile on its cell, * where the target counts (without *, everywhere)")
    for formation in list_formations():
        print(f"\n{formation.name}: {_described(formation)}")
        print("\n".join(f"  {line}" for line in formation.picture.splitlines()))
    print(f"\ntables in {tables_folder()}: {', '.join(names) or 'none'}")
    return 0


def _described(formation: Formation) -> str:
    moving = formation.larges - formation.locks[0].bit_count()
    larges = f"{formation.larges} large tiles"
    if moving == formation.larges:
        larges += ", which move freely"
    elif moving:
        larges += f", {moving} of them free to move"
    return f"{formation.free} cells to play on, {larges}"


@app.command()
def build(
    formation: Annotated[
        str,
        typer.Argument(
            metavar="FORMATION",
            help="A formation such as L3, or a .toml file with one.",
            autocompletion=_formation_names,
        ),
    ],
    target: Annotated[
        int, typer.Argument(metavar="TARGET", help="The tile to be made, such as 256.")
    ],
    file: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            callback=no_device,
            help="Where to write the table; by default in the data folder.",
        ),
    ] = None,
    rules: RulesOption = None,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="How much memory may be used, such as 4G.")
    ] = "4G",
    threads: ThreadsOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Build a table; the same command continues building that was stopped."""
    from py2048.solving.formations import get_formation
    from py2048.solving.positions import Positions
    from py2048.solving.tables import build_table, checked_memory

    chosen, size = get_formation(formation), memory_size(memory)
    path = file or tables_folder() / f"{chosen.name}-{target}{TABLE_SUFFIX}"
    if path.exists():
        raise SolvingError(f"{path} exists: remove it to build it again")
    if file is None:
        with os_errors_as(SolvingError, str(path.parent)):
            path.parent.mkdir(parents=True, exist_ok=True)
    line = StatusLine(quiet=quiet)
    try:
        with telling(quiet=quiet), keeping(path, line):
            positions = Positions(chosen, target, get_rules(rules))
            checked_memory(positions, size)
            if positions.count > MANY:
                line.say(size_text(positions))
            table = build_table(
                *(chosen, target, path),
                rules=positions.rules,
                memory=size,
                threads=threads,
                progress=lambda progress: line.show(progress_text(progress)),
            )
    finally:
        line.close()
    _tell(table, json=json)
    return 0


def size_text(positions: Positions) -> str:
    """Return what is said of a table before it is built."""
    room = math.ceil(positions.count * BYTES / 1e6)
    return f"{positions.name} has {positions.count:,} positions: a file of up to {room:,} MB"


def _tell(table: Table, *, json: bool) -> None:
    size = table.path.stat().st_size
    if json:
        about = {"table": table.name, "rules": str(table.rules), "file": str(table.path)}
        print_json({**about, "positions": table.positions, "bytes": size})
        return
    print(f"{table.name} under {table.rules.name}: {table.positions:,} positions, {size:,} bytes")
    print(table.path)


@app.command()
def query(
    table: TableArgument,
    board: Annotated[
        str, typer.Argument(help='Rows separated by /, such as "2 . / 4 8"; - reads stdin.')
    ],
    rules: RulesOption = None,
    json: JsonOption = False,
) -> int:
    """Print the chance to make the target after each move on BOARD, the best first."""
    from py2048.solving.tables import load_table

    position = board_of(board)
    with telling(quiet=json):
        known = load_table(table, rules)
        chance, moves = known.chance_of(position), known.move_chances(position)
    ranked = sorted(moves.items(), key=lambda move: -move[1])
    if json:
        values = {str(direction): value for direction, value in ranked}
        print_json({"table": known.name, "chance": chance, "moves": values, "error": known.error})
        return 0
    if not known.holds(position):
        print(f"{known.target} is made")
    for direction, value in ranked:
        print(f"{direction!s:<5}  {value:.6f}")
    if not ranked:
        print("no move is left")
    return 0


@app.command()
def check(table: TableArgument, json: JsonOption = False) -> int:
    """Read every byte of a table, and say whether the file is whole."""
    from py2048.solving.tables import load_table

    with telling(quiet=json):
        known = load_table(table)
        known.check()
    if json:
        print_json({"table": known.name, "file": str(known.path)})
    else:
        print(f"{known.path} is whole")
    return 0
