"""``py2048 tables``: the chance to finish an ending, from every position of a formation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from py2048.board import Board
from py2048.cli.compiling import StatusLine, telling
from py2048.cli.options import (
    JsonOption,
    RulesOption,
    SeedOption,
    ThreadsOption,
    between,
    chosen_seed,
    no_device,
    print_json,
)
from py2048.cli.solve import memory_size, progress_text
from py2048.errors import SolvingError, os_errors_as
from py2048.storage import data_folder

if TYPE_CHECKING:
    from py2048.solving.formations import Formation
    from py2048.solving.tables import Table

SUFFIX = ".table"

app = typer.Typer(
    help="Tables of endings on 4x4: the chance to make a tile while the large ones stand still.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _formation_names() -> list[str]:
    from py2048.solving.formations import list_formations

    return [formation.name for formation in list_formations()]


def _folder() -> Path:
    return data_folder() / "tables"


TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A table in the data folder, such as L3-256, or a file.",
        autocompletion=lambda: [path.stem for path in sorted(_folder().glob(f"*{SUFFIX}"))],
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def _load(name: str, rules: str | None) -> Table:
    from py2048.solving.tables import Table

    known, file = _folder() / f"{name}{SUFFIX}", Path(name)
    if not known.exists() and not file.exists():
        raise SolvingError(f"there is no table {name}: build it with py2048 tables build")
    return Table.load(known if known.exists() else file, rules)


@app.command("list")
def list_(json: JsonOption = False) -> int:
    """List the formations that are known, and the tables in the data folder."""
    from py2048.solving.formations import list_formations

    files = sorted(_folder().glob(f"*{SUFFIX}"))
    if json:
        known = {each.name: each.data() for each in list_formations()}
        print_json({"formations": known, "folder": str(_folder()), "tables": _names(files)})
        return 0
    print("#  a large tile on its cell, * where the target counts (without *, everywhere)")
    for formation in list_formations():
        print(f"\n{formation.name}: {_described(formation)}")
        print("\n".join(f"  {line}" for line in formation.picture.splitlines()))
    print(f"\ntables in {_folder()}: {', '.join(_names(files)) or 'none'}")
    return 0


def _names(files: list[Path]) -> list[str]:
    return [path.stem for path in files]


def _described(formation: Formation) -> str:
    moving = formation.larges - formation.locks[0].bit_count()
    larges = f"{formation.larges} large tiles"
    if moving:
        larges += ", which move freely" if moving == formation.larges else f", {moving} move freely"
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
    """Build a table; building that was ended goes on from there."""
    from py2048.solving.formations import get_formation
    from py2048.solving.table_builder import build_table

    chosen, size = get_formation(formation), memory_size(memory)
    path = file or _folder() / f"{chosen.name}-{target}{SUFFIX}"
    if path.exists():
        raise SolvingError(f"{path} exists: remove it to build it again")
    if file is None:
        with os_errors_as(SolvingError, str(path.parent)):
            path.parent.mkdir(parents=True, exist_ok=True)
    line = StatusLine(quiet=quiet)
    try:
        with telling(quiet=quiet):
            table = build_table(
                *(chosen, target, path),
                rules=rules or "classic",
                memory=size,
                threads=threads,
                progress=lambda progress: line.show(progress_text(progress)),
            )
    finally:
        line.close()
    _tell(table, json=json)
    return 0


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
    position = Board.parse(sys.stdin.read() if board == "-" else board)
    with telling(quiet=json):
        known = _load(table, rules)
        chance, moves = known.chance_of(position), known.move_chances(position)
    ranked = sorted(moves.items(), key=lambda move: -move[1])
    if json:
        values = {str(direction): value for direction, value in ranked}
        print_json({"table": known.name, "chance": chance, "moves": values, "error": known.error})
        return 0
    if chance == 1 and max(moves.values(), default=0) < 1:
        print(f"{known.target} is made")
    for direction, value in ranked:
        print(f"{direction!s:<5}  {value:.6f}")
    if not ranked:
        print("no move is left")
    return 0


@app.command()
def check(
    table: TableArgument,
    samples: Annotated[
        int,
        typer.Option(
            metavar="N",
            callback=between(0, 10**6),
            help="How many positions to compare with those that follow.",
        ),
    ] = 200,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> int:
    """Check a table: every byte, and some chances against those of the positions that follow."""
    with telling(quiet=json):
        known = _load(table, None)
        difference = known.check(samples, chosen_seed(seed) or 0)
    if json:
        print_json({"table": known.name, "samples": samples, "difference": difference})
        return 0
    print(f"{known.path} is whole; {samples:,} chances differ by at most {difference:.6f}")
    return 0
