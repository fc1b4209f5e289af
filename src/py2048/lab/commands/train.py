"""``train`` and ``weights``, which train n-tuple networks and inspect their files."""

from __future__ import annotations

import signal
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from py2048.core.data import read_toml
from py2048.core.errors import WeightsError, need_compiler
from py2048.lab.commands import plots
from py2048.presentation import options
from py2048.presentation.screen import points
from py2048.presentation.streams import INTERRUPTED, StatusLine, complain

if TYPE_CHECKING:
    from py2048.lab.training.boards import ScoreTally
    from py2048.lab.training.run import CurvePoint, StopCriteria, TrainingRun
    from py2048.players.ntuple.network import StageRecord

Settings = dict[str, Any]

CALIBRATION_GAMES = 200


def _initial(incomplete: str) -> list[str]:
    return ["shipped", *options.weights_files(incomplete)]


def settings() -> list[str]:
    """Return setting names for shell completion."""
    from py2048.lab.training.run import StopCriteria
    from py2048.lab.training.trainer import TrainingConfig, setting_names

    return [f"{name}=" for kind in (TrainingConfig, StopCriteria) for name in setting_names(kind)]


@dataclass(frozen=True)
class TrainOptions:
    """Training options of the command line."""

    config: Annotated[
        Path | None, options.taking("FILE", "Settings in TOML.", "--config", "-c")
    ] = None
    settings: Annotated[
        list[str] | None,
        options.taking(
            "NAME=VALUE", "Any setting, such as lambda=0.5.", "--set", "-s", words=settings
        ),
    ] = None
    rules: options.RulesOption = None
    seed: options.SeedOption = None
    threads: options.ThreadsOption = None
    device: Annotated[
        str | None,
        options.taking(
            "DEVICE", "cpu, cuda or reference.", words=lambda: ["cpu", "cuda", "reference"]
        ),
    ] = None
    games: Annotated[int | None, options.counting("Stop after this many games.")] = None
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0, max=1e9, help="Stop after this many minutes; 10 without another limit."
        ),
    ] = None

    def chosen(self) -> Settings:
        """Return the settings that were given. Options override ``--set``."""
        names = "rules", "threads", "device", "games", "minutes"
        found = {name: getattr(self, name) for name in names}
        found["seed"] = options.chosen_seed(self.seed)
        given = {name: value for name, value in found.items() if value is not None}
        return dict(map(_setting, self.settings or [])) | given


def train(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where checkpoint, curve and weights are kept.")
    ],
    given: TrainOptions,
    weights: Annotated[
        str | None, options.taking("FILE", "Initial weights; or: shipped.", words=_initial)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint.")] = False,
    plot: options.PlotOption = None,
    quiet: options.QuietOption = False,
) -> int:
    """Train an n-tuple network in FOLDER. Ctrl-C stops and saves; --resume continues.

    SIGTERM, with which systemd and clusters end a job, has the same effect, and the exit status is
    then 130. If the settings have bands, these are trained one after the other. The device cuda
    plays thousands of games at once on a GPU, and the device reference does the same on the CPU.
    """
    from py2048.lab.training import run as training

    if given.device != "cuda":
        need_compiler("training")
    chosen, kept = given.chosen(), read_toml(given.config, WeightsError) if given.config else {}
    if resume and (weights or chosen.get("weights")):
        raise WeightsError("--resume keeps the weights: leave out --weights")
    if "bands" in kept or (resume and (folder / training.PLAN).exists()):
        if plot:
            raise WeightsError("--plot does not support bands: see last-stretch.csv in FOLDER")
        chosen |= {"weights": weights} if weights else {}
        return _ascend(folder, given.config, chosen, resume=resume, quiet=quiet)
    values, limits = training.split_settings(kept, chosen)
    plots.check_plots(plot)
    show = (lambda _: None) if quiet else _print_point
    with _sigterm_as_ctrl_c(), StatusLine(quiet=quiet) as line:
        run = training.open_run(folder, values, weights or "", resume=resume)
        stop = training.stop_criteria(limits, run.stop)
        if run.share_of(stop) >= 1:
            complain("nothing is left to train: the limits count from the beginning")
        try:
            run.run(stop, lambda: line.tell(_progress(run, stop)), show)
            status = 0
        except KeyboardInterrupt:
            print("stopped and saved: --resume continues")
            status = INTERRUPTED
    if plot:
        plots.draw_curve(run.curve, plot)
    trainer = run.trainer
    print(
        f"{trainer.games:,} games, {trainer.moves:,} moves; weights in {folder / training.WEIGHTS}"
    )
    return status


def _progress(run: TrainingRun, stop: StopCriteria) -> str:
    share = run.share_of(stop)
    done = f"{min(share, 1.0):.0%}, " if share else ""
    return f"{done}{run.trainer.games:,} games, {run.moves_per_second:,.0f} moves/s"


def _print_point(point: CurvePoint) -> None:
    evaluated = f", evaluated {point.evaluated:,.0f} ± {point.evaluated_error:,.0f}"
    print(
        f"{point.seconds:8.1f} s  {point.games:9,} games  {point.moves:13,} moves  "
        f"mean {point.mean:,.0f} ± {point.error:,.0f}, 2048 in {point.tile_2048:.0%}"
        + (evaluated if point.evaluated else ""),
        flush=True,
    )


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Make SIGTERM raise KeyboardInterrupt inside a ``with`` block."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _setting(text: str) -> tuple[str, Any]:
    """Parse ``name=value``. A value that is not valid TOML is used as a string."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name.replace("_", "").isalnum():
        raise WeightsError(f"--set {text!r}: write name=value, such as lambda=0.5")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value


def _ascend(
    folder: Path, config: Path | None, changes: Settings, *, resume: bool, quiet: bool
) -> int:
    """Copy a plan to the folder, and train the bands that the plan describes."""
    need_compiler("training")  # even with a GPU, games from saved boards run on the CPU
    from py2048.lab.training.ascent import Ascent, plan_from
    from py2048.lab.training.run import PLAN, check_free, folder_lock

    kept = folder / PLAN
    if not resume:
        check_free(folder)
    elif not kept.exists():
        raise WeightsError(f"{folder} holds no training of bands: leave out --resume")
    values = read_toml(config or kept, WeightsError)
    plan = plan_from(values | changes)
    with _sigterm_as_ctrl_c(), StatusLine(quiet=quiet):
        ascent = Ascent(folder, plan, (lambda _: None) if quiet else _print_timestamped)
        if config:
            with folder_lock(folder):
                kept.write_text(config.read_text(encoding="utf-8"), encoding="utf-8")
        try:
            ascent.run()
        except KeyboardInterrupt:
            print("stopped: --resume continues from the last checkpoint")
            return INTERRUPTED
    return 0


def _print_timestamped(text: str) -> None:
    print(f"{datetime.now():%Y-%m-%d %H:%M}  {text}", flush=True)


def weights(
    file: Annotated[
        Path, options.word("FILE", "A weights file written by py2048 train.", options.weights_files)
    ],
    output: Annotated[
        Path | None, options.output("Write the network in the packed format.")
    ] = None,
    step: Annotated[
        float, typer.Option(min=1e-6, max=1e9, help="Points per unit of a packed weight.")
    ] = 16.0,
    prune: Annotated[
        float, typer.Option(min=0, max=1e9, help="Drop weights closer to 0 than this.")
    ] = 0.0,
    games: Annotated[
        int, options.counting("Measure the strength over this many games.", least=0)
    ] = 0,
    calibrated: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Compare expected with actual points by stage; save the result beside FILE for "
            "hints.",
        ),
    ] = False,
    seed: options.SeedOption = None,
    threads: options.ThreadsOption = 1,
    json: options.JsonOption = False,
) -> None:
    """Describe a weights FILE and measure how well it plays; pack it and measure the loss."""
    from py2048.lab.training.boards import calibrate, evaluate, usual_stages
    from py2048.players.ntuple import weights as files
    from py2048.players.search.limits import SearchLimits
    from py2048.players.search.searcher import Searcher

    data: Settings = files.checked_header_of(file) | {"bytes": file.stat().st_size}
    network = files.load(file) if output or games or calibrated else None
    first, kept, at_once = options.chosen_seed(seed) or 0, files.load_records(file), threads or 1
    with StatusLine(quiet=json):
        if network and calibrated:
            player = partial(Searcher, network.rules, network, SearchLimits(1))
            count = games or CALIBRATION_GAMES
            kept = calibrate(player, usual_stages(), count, seed=first, threads=at_once)
            files.save_records(kept, file)
        if kept:
            stages = [asdict(each) for each in kept.stages]
            data["records"] = {"games": kept.games, "seed": kept.seed, "stages": stages}
        if network and games:
            data["strength"] = _strength(evaluate(network, games, first, threads=at_once))
        if network and output:
            small = files.save_packed(network, output, step=step, prune=prune)
            data["packed"] = {"file": str(output), "bytes": output.stat().st_size}
            if games:
                tally = evaluate(small, games, first, threads=at_once)
                data["packed"]["strength"] = _strength(tally)
    if json:
        options.print_json(data)
    else:
        _print_weights(data, kept.stages if kept and calibrated else ())


def _strength(tally: ScoreTally) -> Settings:
    tiles = {1 << rank: tally.rate(1 << rank) for rank in range(11, 17)}
    return {"games": tally.games, "mean": tally.mean, "error": tally.error, "tiles": tiles}


def _print_weights(data: Settings, stages: Sequence[StageRecord]) -> None:
    print(f"rules    {data['rules']}")
    print(f"tuples   {' '.join('-'.join(map(str, cells)) for cells in data['tuples'])}")
    print(f"stages   {', '.join(map(str, [0, *data['stages']]))}; held: {data['held']}")
    print(f"ranks    {data['ranks']}, tiles up to {1 << data['ranks'] - 1:,}")
    print(f"encoding {data['encoding']}, {data['bytes']:,} bytes")
    for band in data.get("bands", {}).get("bands", ()):
        end = f" until {band['makes']:,} is made" if band["makes"] else ""
        print(f"band     from {band['tile']:,} and a sum of {band['least']:,}{end}")
    for entry in data["history"]:
        print(f"trained  {_training(entry)}")
    if "records" in data:
        print(f"records  of {data['records']['games']:,} games, seed {data['records']['seed']}")
    for stage in stages:
        _print_stage(stage)
    packed = data.get("packed", {})
    if "strength" in data:
        _print_strength(data["strength"])
    if packed:
        print(f"packed   {packed['file']}, {packed['bytes']:,} bytes")
    if "strength" in packed:
        _print_strength(packed["strength"])
        before, after = data["strength"]["mean"], packed["strength"]["mean"]
        print(f"loss     {points(round(before - after))}, {1 - after / before:.2%}")


def _training(entry: Settings) -> str:
    """Describe a history entry. Any field may be missing."""
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


def _print_strength(strength: Settings) -> None:
    tiles = ", ".join(f"{tile}: {rate:.1%}" for tile, rate in strength["tiles"].items() if rate)
    print(
        f"plays    {strength['mean']:,.0f} ± {strength['error']:,.0f} over "
        f"{strength['games']:,} games{'; ' if tiles else ''}{tiles}"
    )
