"""``train`` and ``weights``: training n-tuple networks, and their files."""

from __future__ import annotations

import signal
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from py2048.cli import plots
from py2048.cli.options import (
    JsonOption,
    RulesOption,
    SeedOption,
    check_outputs,
    chosen_seed,
    file_option,
    no_device,
    number_option,
    parallel,
    print_json,
)
from py2048.cli.streams import INTERRUPTED, complain, telling
from py2048.errors import WeightsError, shown
from py2048.ui.shared.screen import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from py2048.ntuple.network import Network, StageRecord, TrackRecord
    from py2048.training.run import CurvePoint, StopCriteria, TrainingProgress, TrainingRun

Settings = dict[str, Any]
Watch = Callable[["TrainingProgress"], None]

BLOCKS = " ▁▂▃▄▅▆▇█"
WIDTH = 60
BAR = 30

LIMITS = "games", "moves", "minutes"
DEFAULT_MINUTES = 10.0
NOTHING_LEFT = (
    "nothing is left to train, the limits count from the beginning: give a larger one, such as "
    "--minutes"
)
CALIBRATION_GAMES = 200

SHIPPED = "shipped"
"""The name in ``--from`` of the weights that come with py2048; a file is ``./shipped``."""


def train(
    folder: Annotated[Path, typer.Argument(help="Where checkpoint, curve and weights are kept.")],
    config: Annotated[
        Path | None, file_option("Settings in TOML.", "--config", "-c", is_read=True)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="Any setting, such as lambda=0.5."),
    ] = None,
    rules: RulesOption = None,
    seed: SeedOption = None,
    threads: Annotated[int | None, parallel("Games at the same time.")] = None,
    games: Annotated[
        int | None, number_option("Stop after this many games.", 1, 1e18, metavar="N")
    ] = None,
    minutes: Annotated[
        float | None,
        number_option("Stop after this many minutes; 10 without another limit.", 0, 1e9),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--from", metavar="FILE", help="Initial weights; or: shipped.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint.")] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw the curve as curve.png in FOLDER; takes no file.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")] = False,
) -> int:
    """Train an n-tuple network in FOLDER. Ctrl-C stops and saves; --resume continues.

    SIGTERM, by which systemd and clusters end a job, does the same; the exit status is then 130.
    Settings with bands train these, one after the other.
    """
    from py2048.training.run import PLAN, WEIGHTS, load_toml

    given: Settings = {"rules": rules, "seed": chosen_seed(seed), "threads": threads}
    given |= {"games": games, "minutes": minutes}
    file_values = load_toml(config) if config else {}
    if "bands" in file_values or (resume and (folder / PLAN).exists()):
        changes = dict(map(_setting, settings or [])) | {"weights": weights}
        return _ascend(folder, config, given | changes, resume=resume, plot=plot, quiet=quiet)
    config_values, limits = split_settings(file_values, settings or [], given)
    if plot:
        plots.check_plots()
    with telling(quiet=quiet):
        run = _run_of(folder, config_values, weights, resume=resume)
    stop = stop_criteria(limits, run.stop)
    if run.is_over(stop):
        complain(NOTHING_LEFT)
    with _sigterm_as_ctrl_c(), telling(quiet=quiet):
        run.trainer.prepare()
    status = 0
    try:
        with _sigterm_as_ctrl_c(), _progress(quiet=quiet) as watch:
            run.run(stop, watch)
    except KeyboardInterrupt:
        status = INTERRUPTED
        print("stopped and saved: --resume continues")
    if plot:
        plots.draw_curve(run.curve, folder / "curve.png")
    trainer = run.trainer
    print(f"{trainer.games:,} games, {trainer.moves:,} moves; weights in {folder / WEIGHTS}")
    return status


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def split_settings(
    values: Settings, texts: list[str], options: Settings
) -> tuple[Settings, Settings]:
    """Return the settings and the criteria: from the file, then ``--set``, then the options."""
    from py2048.training.run import StopCriteria
    from py2048.training.trainer import dataclass_from

    own = values.pop("run", {})
    if not isinstance(own, dict):
        raise WeightsError(f"run = {shown(own)} must be a table, [run]")
    values = values | own | dict(map(_setting, texts))
    values |= {name: value for name, value in options.items() if value is not None}
    limits = {
        name: values.pop(name) for name in list(values) if name in StopCriteria.__dataclass_fields__
    }
    dataclass_from(StopCriteria, limits)  # refuses wrong ones before anything is read
    return values, limits


def stop_criteria(given: Settings, kept: StopCriteria | None = None) -> StopCriteria:
    """Return the criteria of a training: given ones, those that it had, or ten minutes."""
    from py2048.training.run import StopCriteria
    from py2048.training.trainer import dataclass_from

    values = asdict(kept) if kept else {}
    if any(given.get(name) for name in LIMITS):
        values |= dict.fromkeys(LIMITS, 0)
    values |= given
    if not any(values.get(name) for name in LIMITS):
        values["minutes"] = DEFAULT_MINUTES
    return dataclass_from(StopCriteria, values)


def _setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``name=value``; a value that is not TOML is a text."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name.replace("_", "").isalnum():
        raise WeightsError(f"--set {text!r}: write name=value, such as lambda=0.5")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value


def _ascend(
    folder: Path, config: Path | None, changes: Settings, *, resume: bool, plot: bool, quiet: bool
) -> int:
    """Train the bands of a plan, which is kept in the folder."""
    from py2048.training.ascent import STRETCHES, Ascent, last_stretches, plan_from
    from py2048.training.run import PLAN, check_free, folder_lock, load_toml

    kept = folder / PLAN
    if not resume:
        check_free(folder)
    elif not kept.exists():
        raise WeightsError(f"{folder} holds no training of bands: leave out --resume")
    elif changes.get("weights"):
        raise WeightsError("--resume keeps the weights: leave out --from")
    if plot:
        plots.check_plots()
    values = load_toml(config or kept)
    plan = plan_from(values | {n: value for n, value in changes.items() if value is not None})
    with telling(quiet=quiet):
        ascent = Ascent(folder, plan, (lambda _: None) if quiet else _say)
        if config:
            with folder_lock(folder):
                kept.write_text(config.read_text(encoding="utf-8"), encoding="utf-8")
        status = 0
        try:
            with _sigterm_as_ctrl_c():
                ascent.run()
        except KeyboardInterrupt:
            status = INTERRUPTED
            print("stopped: --resume continues from the last checkpoint")
    if plot:
        plots.draw_ascent(last_stretches(folder / STRETCHES), folder / "curve.png")
    return status


def _say(text: str) -> None:
    print(f"{datetime.now():%Y-%m-%d %H:%M}  {text}", flush=True)


def _run_of(folder: Path, values: Settings, weights: str | None, *, resume: bool) -> TrainingRun:
    from py2048.training.run import TrainingRun
    from py2048.training.trainer import config_from, data_of

    if resume:
        if weights:
            raise WeightsError("--resume keeps the weights: leave out --from")
        return TrainingRun.resume(folder, values)
    if not weights:
        return TrainingRun.begin(folder, config_from(values))
    network = _first_network(weights, str(values.get("rules", "classic")))
    return TrainingRun.begin(folder, config_from(data_of(network) | values), network)


def _first_network(weights: str, rules: str) -> Network:
    from py2048.ntuple.weights import load, shipped_network
    from py2048.rules import Rules

    if weights != SHIPPED:
        return load(weights)
    network = shipped_network(Rules.parse(rules))
    if network is None:
        raise WeightsError(
            f"--from shipped: no weights come with py2048 for the rules {rules}; "
            "name a file, or leave out --from"
        )
    return network


def weights(
    file: Annotated[
        Path, typer.Argument(callback=no_device, help="A file that py2048 train made.")
    ],
    pack: Annotated[Path | None, file_option("Write the network in the packed format.")] = None,
    step: Annotated[float, number_option("Points in a step of a packed weight.", 1e-6, 1e9)] = 16.0,
    prune: Annotated[
        float, number_option("Leave out weights nearer to 0 than this.", 0, 1e9)
    ] = 0.0,
    games: Annotated[
        int, number_option("Measure the strength over this many games.", 0, 1e18, metavar="N")
    ] = 0,
    calibration: Annotated[
        bool,
        typer.Option(
            "--calibration",
            help="Compare, by stage, the points it expects with those that come.",
        ),
    ] = False,
    records: Annotated[
        bool,
        typer.Option(
            "--records", help="Keep the calibration beside FILE, where hints look for it."
        ),
    ] = False,
    plot: Annotated[Path | None, file_option("Draw the calibration: .png or .svg.")] = None,
    seed: SeedOption = None,
    threads: Annotated[int, parallel("Games at the same time.")] = 1,
    json: JsonOption = False,
) -> int:
    """Describe a weights FILE and measure how well it plays; pack it and measure the loss."""
    from py2048.ntuple import weights as files

    check_outputs({"--pack": pack, "--plot": plot}, file)
    data: Settings = files.checked_header_of(file) | {"bytes": file.stat().st_size}
    if plot:
        plots.check_plots(plot)
    calibration = calibration or records or plot is not None
    network = files.load(file) if pack or games or calibration else None
    small = files.save_packed(network, pack, step=step, prune=prune) if network and pack else None
    first = chosen_seed(seed) or 0
    kept = files.load_records(file)
    if kept:
        data["records"] = _calibration_data(kept)
    if network and calibration:
        found = _calibration(network, games or CALIBRATION_GAMES, first, threads, quiet=json)
        data["calibration"] = _calibration_data(found)
        if records:
            files.save_records(found, file)
            data["records"] = data["calibration"]
        if plot:
            plots.draw_calibration(found.stages, plot)
    if network and games:
        data["strength"] = _strength(network, games, first, threads, quiet=json)
    if small and pack:
        data["packed"] = {"file": str(pack), "bytes": pack.stat().st_size}
        if games:
            data["packed"]["strength"] = _strength(small, games, first, threads, quiet=json)
    if json:
        print_json(data)
    else:
        _print_weights(data)
    return 0


def _calibration(
    network: Network, games: int, seed: int, threads: int, *, quiet: bool
) -> TrackRecord:
    from py2048.search.limits import SearchLimits
    from py2048.search.searcher import Searcher
    from py2048.training.boards import calibrate, usual_stages

    with telling(quiet=quiet):
        player = partial(Searcher, network.rules, network, SearchLimits(1))
        return calibrate(player, usual_stages(), games, seed=seed, threads=threads)


def _calibration_data(records: TrackRecord) -> Settings:
    stages = [each._asdict() for each in records.stages]
    return {"games": records.games, "seed": records.seed, "stages": stages}


def _strength(network: Network, games: int, seed: int, threads: int, *, quiet: bool) -> Settings:
    from py2048.training.boards import evaluate

    with telling(quiet=quiet):
        tally = evaluate(network, games, seed, threads=threads)
    tiles = {1 << rank: tally.rate(1 << rank) for rank in range(11, 17)}
    return {"games": games, "mean": tally.mean, "error": tally.error, "tiles": tiles}


def _print_weights(data: Settings) -> None:
    from py2048.ntuple.network import StageRecord

    print(f"rules    {data['rules']}")
    print(f"tuples   {' '.join('-'.join(map(str, cells)) for cells in data['tuples'])}")
    print(f"stages   {', '.join(map(str, [0, *data['stages']]))}; held: {data['held']}")
    print(f"ranks    {data['ranks']}, tiles up to {1 << data['ranks'] - 1:,}")
    print(f"encoding {data['encoding']}, {data['bytes']:,} bytes")
    for band in data.get("bands", {}).get("bands", ()):
        made = f" until {band['makes']:,} is made" if band["makes"] else ""
        print(f"band     from {band['tile']:,} and a sum of {band['least']:,}{made}")
    for entry in data["history"]:
        print(f"trained  {_training(entry)}")
    if "records" in data:
        print(f"records  of {data['records']['games']:,} games, seed {data['records']['seed']}")
    for row in data.get("calibration", {}).get("stages", ()):
        _print_stage(StageRecord(**row))
    if "strength" in data:
        _print_strength("plays", data["strength"])
    if "packed" in data:
        print(f"packed   {data['packed']['file']}, {data['packed']['bytes']:,} bytes")
        if "strength" in data["packed"]:
            after = data["packed"]["strength"]
            _print_strength("plays", after)
            before = data["strength"]["mean"]
            points = counted(round(before - after["mean"]), "point")
            print(f"loss     {points}, {1 - after['mean'] / before:.2%}")


def _training(entry: Settings) -> str:
    """Return what an entry of a history says of a training; any part may be missing."""
    what = "band {}, {}: ".format(*entry["band"]) if "band" in entry else ""
    counts = [f"{entry[name]:,} {name}" for name in ("games", "moves") if name in entry]
    counts += [f"{entry['seconds']} s"] if "seconds" in entry else []
    ending = "" if entry.get("kept", True) else "; not kept, as it was no better"
    return f"{what}{', '.join(counts) or 'how long is not known'}{ending}"


def _print_stage(record: StageRecord) -> None:
    goal, stage = record.next_tile, f"{record.tile:,}, sum {record.least:,}"
    print(
        f"at       {stage if record.least else 'the start'}: expects {record.predicted:,.0f}, gets "
        f"{record.realised:,.0f}: {record.excess:+,.0f} ± {record.error:,.0f}; "
        f"makes {goal:,} in {record.made.get(goal, 0):,} of {record.games:,} games"
    )


def _print_strength(word: str, strength: Settings) -> None:
    tiles = ", ".join(f"{tile}: {rate:.1%}" for tile, rate in strength["tiles"].items() if rate)
    print(
        f"{word}    {strength['mean']:,.0f} ± {strength['error']:,.0f} over "
        f"{strength['games']:,} games{'; ' if tiles else ''}{tiles}"
    )


# --- progress ------------------------------------------------------------------------------------


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Watch]:
    """Return a function that shows progress: live in a terminal, else a line for each point."""
    if quiet:
        yield lambda _: None
    elif sys.stdout.isatty():
        from rich.live import Live

        with Live(refresh_per_second=8) as live:
            yield lambda status: live.update(_picture(status))
    else:
        yield _line_printer()


def _line_printer() -> Watch:
    printed = 0

    def show(status: TrainingProgress) -> None:
        nonlocal printed
        for point in status.curve[max(printed, len(status.curve) - 1) :]:
            print(_line(point), flush=True)
        printed = len(status.curve)

    return show


def _line(point: CurvePoint) -> str:
    judged = f", evaluated {point.evaluated:,.0f} ± {point.evaluated_error:,.0f}"
    return (
        f"{point.seconds:8.1f} s  {point.games:9,} games  {point.moves:13,} moves  "
        f"mean {point.mean:,.0f} ± {point.error:,.0f}, 2048 in {point.tile_2048:.0%}"
        + (judged if point.evaluated else "")
    )


def _picture(status: TrainingProgress) -> RenderableType:
    from rich.text import Text

    minutes, seconds = divmod(int(status.seconds), 60)
    head = (
        f"{_bar(status.share)}  {minutes}:{seconds:02d}  {status.games:,} games  "
        f"{status.games_per_second:,.0f} games/s  {status.moves_per_second:,.0f} moves/s"
    )
    lines = [head, *(_curve_lines(status.curve) if status.curve else ["no point yet"])]
    return Text("\n".join(lines))


def _bar(share: float) -> str:
    if not share:
        return "training"
    done = round(BAR * min(share, 1.0))
    return f"[{'━' * done}{' ' * (BAR - done)}] {min(share, 1.0):4.0%}"


def _curve_lines(curve: tuple[CurvePoint, ...]) -> list[str]:
    shown = curve[-WIDTH:]
    return [sparkline([point.mean for point in shown]), _line(shown[-1])]


def sparkline(values: list[float]) -> str:
    """Return values as a row of blocks, from 0 to the largest."""
    most = max(values, default=0.0)
    steps = len(BLOCKS) - 1
    return "".join(BLOCKS[round(steps * value / most) if most > 0 else 0] for value in values)
