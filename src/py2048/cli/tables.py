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
    SeedOption,
    Subcommands,
    ThreadsOption,
    between,
    board_of,
    check_outputs,
    chosen_seed,
    no_device,
    print_json,
)
from py2048.cli.solve import keeping, memory_size, progress_text
from py2048.errors import SolvingError, os_errors_as
from py2048.folders import TABLE_SUFFIX, built_tables, tables_folder
from py2048.rules import get_rules

if TYPE_CHECKING:
    from py2048.solving.ending_table import EndingTable
    from py2048.solving.formations import Formation
    from py2048.solving.positions import Positions
    from py2048.solving.tables import Table

MANY = 10**7
"""So many positions take a while."""

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


def _load_any(name: str, rules: str | None) -> EndingTable:
    """Return a table, or the distilled one that comes with py2048 if it was not built."""
    from py2048.solving.distilled import shipped_tables
    from py2048.solving.distilled_table import DistilledTable
    from py2048.solving.tables import load_table

    shipped = {path.stem: path for path in shipped_tables()}
    built = {path.stem for path in built_tables()}
    if name not in shipped or name in built or Path(name).exists():
        return load_table(name, rules)
    table = DistilledTable.load(shipped[name])
    if rules is not None and not table.serves(get_rules(rules)):
        raise SolvingError(f"{name} is for {table.rules}, not for {rules}: build another")
    return table


@app.command("list")
def list_(json: JsonOption = False) -> int:
    """List the formations that are known, and the tables in the data folder."""
    from py2048.solving.distilled import shipped_tables
    from py2048.solving.formations import list_formations

    files, shipped = built_tables(), _names(shipped_tables())
    if json:
        known = {each.name: each.data() for each in list_formations()}
        found = {"folder": str(tables_folder()), "tables": _names(files), "distilled": shipped}
        print_json({"formations": known, **found})
        return 0
    print("#  a large tile on its cell, * where the target counts (without *, everywhere)")
    for formation in list_formations():
        print(f"\n{formation.name}: {_described(formation)}")
        print("\n".join(f"  {line}" for line in formation.picture.splitlines()))
    print(f"\ndistilled tables: {', '.join(shipped)}")
    print(f"tables in {tables_folder()}: {', '.join(_names(files)) or 'none'}")
    return 0


def _names(files: list[Path]) -> list[str]:
    return [path.stem for path in files]


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
    """Build a table; building that was ended goes on from there."""
    from py2048.solving.formations import get_formation
    from py2048.solving.positions import Positions
    from py2048.solving.table_builder import build_table, checked_memory

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
                line.say(_size(positions))
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


def _size(positions: Positions) -> str:
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
def distil(
    table: TableArgument,
    file: Annotated[
        Path, typer.Option("--save", metavar="FILE", callback=no_device, help="Where to write it.")
    ],
    games: Annotated[
        int, typer.Option("--games", "-n", callback=between(1, 10**7), help="How many games.")
    ] = 1000,
    continuations: Annotated[
        int, typer.Option(callback=between(1, 1000), help="How often each ending is played.")
    ] = 3,
    depth: Annotated[int, typer.Option(help="How many moves the player looks ahead.")] = 1,
    seed: SeedOption = None,
    quiet: QuietOption = False,
) -> int:
    """Write the chances after the moves on boards that games meet to a small file.

    In the last stretch the player plays by the table.
    """
    from py2048.players.endings import EndingSearcher
    from py2048.players.searching import ExpectimaxPlayer
    from py2048.solving.distilled_table import DistilledTable
    from py2048.solving.endings import Endings
    from py2048.solving.tables import load_table
    from py2048.training.boards import collect_endings

    known = load_table(table)
    check_outputs({"--save": file}, known.path)
    rules, last = known.rules, known.target
    line = StatusLine(quiet=quiet)

    def show(what: str, done: int, of: int) -> None:
        if done % 64 == 0:
            line.show(f"{what}: {done:,} of {of:,}")

    try:
        with telling(quiet=quiet):
            searcher = ExpectimaxPlayer(depth).new_searcher(rules)
            by_table = EndingSearcher(
                rules, searcher.evaluation, searcher.limits, endings=Endings([known])
            )
            boards = collect_endings(
                *(searcher, by_table, last << known.formation.larges, last, games),
                seed=chosen_seed(seed) or 0,
                continuations=continuations,
                progress=show,
            )
            distilled = DistilledTable.of(known, boards.boards())
            if not distilled.count:
                raise SolvingError(
                    f"no game came to a board of {known.formation.name}: play more than {games}"
                )
            distilled.save(file)
    finally:
        line.close()
    print(f"{distilled.name}: {distilled.count:,} chances, {file.stat().st_size:,} bytes")
    print(file)
    return 0


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
    position = board_of(board)
    with telling(quiet=json):
        known = _load_any(table, rules)
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
    from py2048.solving.tables import load_table

    with telling(quiet=json):
        known = load_table(table)
        difference = known.check(samples, chosen_seed(seed) or 0)
    if json:
        print_json({"table": known.name, "samples": samples, "difference": difference})
        return 0
    print(f"{known.path} is whole; {samples:,} chances differ by at most {difference:.6f}")
    return 0
