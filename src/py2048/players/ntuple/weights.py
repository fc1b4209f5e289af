"""Weights files: networks on disk, exact or packed small (``docs/reference/weights-format.md``).

The networks that come with py2048 are in ``data``, one file for each rule set, named after its
preset: small ones, so that py2048 is installed in a moment. Packages registered under the entry
points ``py2048.weights`` bring others in such a folder, used instead: `py2048-weights` has the
strong ones (the folder ``weights`` of the repository). Beside the files, ``measured.toml`` says how
well they play, and the records of each file how its values compare with what comes; each file says
how it was trained, and has the checksums of its parts, which reading it checks.

The small network for ``classic`` is a plain table without stages, which other programs can read in
a few lines: ten 5-tuples, for each of them ``16**5`` weights in whole steps, one after the other. A
board's value is the sum of ten weights for each of its eight symmetries, times the step, after
tiles above 8192 are downgraded (`layout.downgraded`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from py2048.core.errors import WeightsError, os_errors_as, shown
from py2048.core.game.record import write_atomically
from py2048.core.rules import Rules, is_tile
from py2048.players.ntuple.archive import (
    Archive,
    Array,
    Check,
    check_fields,
    faults_of,
    is_amount,
    is_count,
    is_counts,
    is_objects,
    is_points,
    open_archive,
    write_archive,
)
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import (
    Band,
    Bands,
    LazyTable,
    Network,
    PackedWeights,
    Quantized,
    StageRecord,
    TrackRecord,
    check_banded,
    check_bands,
    check_rules,
    objective_key,
)

KIND = "py2048-weights"
EXACT, PACKED = "float32", "steps"
MAX_STEP = 2**15 - 1
MIN_POINTS = 1e-30
"""A smaller step times the largest weight is nothing in float32."""
SHIPPED = Path(__file__).resolve().parent / "data"

RECORDS_KIND, RECORDS_VERSION = "py2048-records", 1
MEANS = ("predicted", "realised", "error")
"""The fields of a `StageRecord` that are saved with one decimal."""


def save(network: Network, path: Path | str, *, compress: bool = False) -> None:
    """Save a network exactly, as float32.

    Args:
        network: the network.
        path: the file; what stood there is replaced when the new one is complete.
        compress: make the file smaller, which takes longer.

    Raises:
        WeightsError: if the file cannot be written, or nothing could read it.
    """
    target, header = Path(path), _header(network, EXACT)
    _check_written(target, header)
    weights = network.weights.reshape(-1, network.layout.size)
    arrays = chain([("weights", weights)], _packed_bands(network.bands))
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    write_archive(target, KIND, header, arrays, compression=kind)


def save_packed(
    network: Network,
    path: Path | str,
    *,
    step: float,
    prune: float = 0.0,
) -> Network:
    """Save a network small: weights as whole numbers of `step` points, without zeros.

    Each stage is saved as its difference from the stage before it in the file. A bit for each entry
    says whether it is zero; the others take two bytes before compression. Bands are in whole steps
    of their own, and are saved as they are.

    Args:
        network: the network.
        path: the file.
        step: the points that one step is worth; weights are rounded to whole steps.
        prune: weights nearer to 0 than this become 0.

    Returns:
        the network that `load` will return.

    Raises:
        WeightsError: if a weight has too many steps for two bytes, the file cannot be written, or
            nothing could read it.
    """
    target = Path(path)
    header = {**_header(network, PACKED), "step": step, "prune": prune}
    _check_written(target, header)
    steps = quantized(network, step, prune)
    arrays = chain(_packed(steps), _packed_bands(network.bands))
    # LZMA would make files 3 % smaller, which take seven times as long to read.
    write_archive(target, KIND, header, arrays, compression=zipfile.ZIP_DEFLATED)
    table = steps.reshape(-1)
    return Network(network.layout, network.rules, table, network.history, step, network.bands)


def quantized(network: Network, step: float, prune: float = 0.0) -> Quantized:
    """Return the weights in whole steps: int16 `[stages, size]`."""
    stages = network.weights.reshape(-1, network.layout.size)
    steps = np.empty(stages.shape, np.int16)
    for number, stage in enumerate(stages):
        rounded = np.rint(stage / np.float32(step))
        if np.abs(rounded).max() > MAX_STEP:
            least = float(np.abs(stage).max()) / MAX_STEP
            raise WeightsError(f"a step of {step} points is too small: take {least:.3g} or more")
        rounded[np.abs(stage) < prune] = 0
        steps[number] = rounded
    return steps


def _packed(steps: Quantized) -> Iterator[tuple[str, Array]]:
    before = np.zeros(steps.shape[1], np.int16)
    for number, stage in enumerate(steps):
        # The change wraps around, and so does the sum when it is read.
        yield from _packed_changes(f"stage{number}", stage - before)
        before = stage


def _packed_bands(bands: Bands | None) -> Iterator[tuple[str, Array]]:
    if bands:
        for number, part in enumerate(bands.unpacked.reshape(len(bands.bands), -1)):
            yield from _packed_changes(f"band{number}", part)


def _packed_changes(name: str, change: Quantized) -> Iterator[tuple[str, Array]]:
    used = change != 0
    values = change[used]
    zigzag = ((values << 1) ^ (values >> 15)).view(np.uint16)
    yield f"{name}/used", np.packbits(used)
    yield f"{name}/low", (zigzag & 0xFF).astype(np.uint8)
    yield f"{name}/high", (zigzag >> 8).astype(np.uint8)


def load(path: Path | str) -> Network:
    """Load a network.

    Bands are read when they are needed, from a copy in memory.

    Raises:
        WeightsError: if the file is missing, damaged, of another version, or does not fit.
    """
    network = _load(path)
    return replace(network, records=load_records(path))


def _load(path: Path | str) -> Network:
    with open_archive(path, KIND) as archive:
        header, step = archive.header, 1.0
        layout, rules = check_header(archive.path, header)
        stages = len(layout.stages) + 1
        if header["encoding"] == PACKED:
            table, step = _unpacked(archive, layout), float(header["step"])
        else:
            table = _checked(
                archive, "weights", archive.read("weights"), np.float32, (stages, layout.size)
            )
        bands = _bands_of(archive) if "bands" in header else None
        return Network(layout, rules, table.reshape(-1), tuple(header["history"]), step, bands)


def _unpacked(archive: Archive, layout: NetworkLayout) -> Quantized:
    steps = np.zeros((len(layout.stages) + 1, layout.size), np.int16)
    for number, stage in enumerate(steps):
        if number:
            stage[:] = steps[number - 1]
        _packed_part(archive, f"stage{number}", layout.size)().add_to(stage)
    return steps


def _packed_part(archive: Archive, name: str, size: int) -> Callable[[], PackedWeights]:
    """Return a function that reads the packed weights of a stage or band, and checks them."""
    names = [f"{name}/{part}" for part in PackedWeights._fields]
    readers = [archive.deferred(each) for each in names]
    shapes = (-(-size // 8),), None, None

    def read() -> PackedWeights:
        used, low, high = (
            _checked(archive, each, reader(), np.uint8, shape)
            for each, reader, shape in zip(names, readers, shapes, strict=True)
        )
        if not np.bitwise_count(used).sum() == low.size == high.size:
            raise WeightsError(f"{archive.path} is damaged: {name} has the wrong size")
        return PackedWeights(used, low, high)

    return read


def _bands_of(archive: Archive) -> Bands:
    header = archive.header["bands"]
    layout, bands = _bands_in(archive.path, header)
    names = (f"band{number}" for number in range(len(bands)))
    lazy = LazyTable([_packed_part(archive, name, layout.size) for name in names], layout.size)
    return Bands(layout, bands, lazy.table, float(header["step"]), lazy)


def _checked(
    archive: Archive,
    name: str,
    array: Array,
    dtype: type[np.generic],
    shape: tuple[int, ...] | None,
) -> Array:
    if array.dtype != dtype or shape not in (None, array.shape):
        raise WeightsError(f"{archive.path} is damaged: {name} is {array.dtype} {array.shape}")
    return array


def header_of(path: Path | str) -> dict[str, Any]:
    """Return what a weight file says about itself, without reading its weights.

    Raises:
        WeightsError: if there is no such file, or it says what cannot be.
    """
    with open_archive(path, KIND) as archive:
        check_header(archive.path, archive.header)
        return archive.header


def checked_header_of(path: Path | str) -> dict[str, Any]:
    """Return the same after reading the whole file, its bands as well.

    Raises:
        WeightsError: if it is missing or damaged.
    """
    bands = _load(path).bands
    if bands and bands.lazy:
        bands.lazy.check()
    return header_of(path)


def browser_script(path: Path | str) -> bytes:
    """Return a packed weights file as browsers take it, a script that sets `network`.

    A page on a disk may load scripts and no other files. `network` is an object with `known`,
    `stages` and `step`; the number of weights of a stage, `size`; for each weight that adds to a
    board's value where its tuple's begin and the tuple's cells, `lookups`: the rank on the cell
    at place i counts 16**i; and `weights`, zigzag numbers `[stages, size]`, first the low bytes of
    all and then the high bytes, deflated, in base64.

    Raises:
        WeightsError: if the file cannot be loaded, or is not so simple.
    """
    network = load(path)
    layout, table = network.layout, network.table
    if network.bands or not layout.is_packed or table.dtype != np.int16:
        raise WeightsError(f"{path} is not for browsers: exact weights, bands, sides above 4")
    steps = table.astype("<i2")
    zigzag = ((steps << 1) ^ (steps >> 15)).view(np.uint8).reshape(-1, 2)
    told = {
        "known": layout.known,
        "stages": layout.stages,
        "step": network.step,
        "size": layout.size,
        "lookups": [
            (offset, [image[cell] for cell in cells])
            for offset, cells in zip(layout.offsets, layout.tuples, strict=False)
            for image in layout.images
        ],
        "weights": base64.b64encode(zlib.compress(zigzag.T.tobytes())).decode(),
    }
    return f"globalThis.network = {json.dumps(told)};\n".encode()


# --- records beside a file -----------------------------------------------------------------------


def load_records(path: Path | str) -> TrackRecord | None:
    """Return the records of a weights file, from the file beside it, if they are of these weights.

    Raises:
        WeightsError: if that file is damaged.
    """
    beside = records_path(path)
    if not beside.exists():
        return None
    try:
        data = json.loads(beside.read_text(encoding="utf-8"))
        if (data["format"], data["version"]) != (RECORDS_KIND, RECORDS_VERSION):
            raise ValueError(f"not {RECORDS_KIND} of version {RECORDS_VERSION}")
        stages = tuple(map(_stage_record, data["stages"]))
        found = TrackRecord(int(data["games"]), int(data["seed"]), stages)
        return found if data["weights"] == digest_of(path) else None
    except OSError as error:
        raise WeightsError(f"{beside} cannot be read: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(
            f"{beside} is damaged ({error}): delete it, or measure again with py2048 weights"
        ) from None


def save_records(records: TrackRecord, path: Path | str) -> Path:
    """Save the records of a weights file beside it; return where.

    Raises:
        WeightsError: if the file cannot be written.
    """
    beside = records_path(path)
    head = {"format": RECORDS_KIND, "version": RECORDS_VERSION, "weights": digest_of(path)}
    head |= {"games": records.games, "seed": records.seed}
    rows = ",\n".join(f"  {json.dumps(_rounded(each))}" for each in records.stages)
    text = f'{json.dumps(head)[:-1]}, "stages": [\n{rows}\n]}}\n'
    with os_errors_as(WeightsError, f"{beside} cannot be written"):
        write_atomically(beside, text.encode())
    return beside


def records_path(path: Path | str) -> Path:
    """Return where the records of a weights file are: ``net.records.json`` beside ``net.npz``."""
    return Path(path).with_suffix(".records.json")


def digest_of(path: Path | str) -> str:
    """Return a digest of a weights file, by the checksums of its weights in its header."""
    return hashlib.sha256(json.dumps(header_of(path), sort_keys=True).encode()).hexdigest()


def _rounded(record: StageRecord) -> dict[str, Any]:
    return record._asdict() | {name: round(getattr(record, name), 1) for name in MEANS}


def _stage_record(row: Mapping[str, Any]) -> StageRecord:
    tile, least, games = (int(row[name]) for name in ("tile", "least", "games"))
    predicted, realised, error = (float(row[name]) for name in MEANS)
    made = {int(goal): int(count) for goal, count in row["made"].items()}
    return StageRecord(tile, least, games, predicted, realised, error, made)


# --- headers -------------------------------------------------------------------------------------


def _is_tuples(value: object) -> bool:
    return isinstance(value, list) and all(
        is_counts(cells) and cells == sorted(set(cells)) for cells in value
    )


def _is_step(value: Any) -> bool:
    return is_points(value) and value > MIN_POINTS


_TUPLES: Check = (_is_tuples, "lists of cells, ascending")
_COUNT: Check = (is_count, "a whole number from 0")
_POINTS: Check = (is_points, "a number of points")
_STEP: Check = (_is_step, "a number of points above 0")
_AMOUNT: Check = (is_amount, "a number from 0")
_TILE: Check = (is_tile, "a tile")

_FIELDS: dict[str, Check] = {
    "rules": (lambda value: isinstance(value, str), "a text"),
    "rows": _COUNT,
    "columns": _COUNT,
    "tuples": _TUPLES,
    "stages": (is_counts, "a list of whole numbers"),
    "ranks": _COUNT,
    "held": (is_counts, "a list of whole numbers"),
    "encoding": (lambda value: value in (EXACT, PACKED), f"{EXACT} or {PACKED}"),
    "history": (is_objects, "a list of objects, one for each training"),
}
_PACKED_FIELDS: dict[str, Check] = {
    "step": _STEP,
    "prune": (is_amount, "a number of points from 0"),
}
_HISTORY_FIELDS: dict[str, Check] = {
    "band": (lambda value: is_counts(value) and len(value) == 2, "a tile and a sum"),
    "begun": _COUNT,
    "games": _AMOUNT,
    "moves": _AMOUNT,
    "seconds": _AMOUNT,
    "kept": (lambda value: isinstance(value, bool), "true or false"),
}
"""What py2048 reads of an entry, where it has it."""
_BANDS_FIELDS: dict[str, Check] = {
    "tuples": _TUPLES,
    "ranks": _COUNT,
    "step": _STEP,
    "bands": (is_objects, "a list of objects"),
}
_BAND_FIELDS: dict[str, Check] = {
    "tile": _TILE,
    "least": _COUNT,
    "level": _POINTS,
    "slope": _POINTS,
    "goal": _POINTS,
    "makes": (lambda value: (type(value) is int and value == 0) or is_tile(value), "a tile or 0"),
}


def check_header(path: Path, header: Mapping[str, Any]) -> tuple[NetworkLayout, Rules]:
    """Make sure that a header describes a network; return its layout and rules.

    Raises:
        WeightsError: if it does not; the message names the file, the field and its value.
    """
    packed = _PACKED_FIELDS if header.get("encoding") == PACKED else {}
    check_fields(path, header, _FIELDS | packed)
    for number, entry in enumerate(header["history"]):
        known = {name: check for name, check in _HISTORY_FIELDS.items() if name in entry}
        check_fields(path, entry, known, f"history, entry {number}")
    with faults_of(path, "rules"):
        rules = Rules.parse(header["rules"])
    for name in ("rows", "columns"):
        if header[name] != getattr(rules, name):
            raise WeightsError(
                f"{path} is damaged: {name} is {header[name]}, but the rules {rules.name} are for "
                f"{rules.rows}x{rules.columns}"
            )
    with faults_of(path, "tuples, stages and ranks"):
        tuples = tuple(map(tuple, header["tuples"]))
        layout = NetworkLayout(*rules.shape, tuples, tuple(header["stages"]), header["ranks"])
        check_rules(layout, rules)
    if header["held"] != list(range(len(layout.stages) + 1)):
        raise WeightsError(
            f"{path} is damaged: held is {shown(header['held'])}, but a file holds all stages, "
            f"0 to {len(layout.stages)}"
        )
    if "bands" in header:
        _bands_in(path, header["bands"])
        with faults_of(path, "rules"):
            check_banded(rules)
    return layout, rules


def _check_written(path: Path, header: Mapping[str, Any]) -> None:
    """Make sure that a header can be read back once it is written to a file."""
    try:
        check_header(path, json.loads(json.dumps(header)))
    except WeightsError as error:
        fault = str(error).removeprefix(f"{path} is damaged: ")
        raise WeightsError(f"{path} is not written, as nothing could read it: {fault}") from None


def _bands_in(path: Path, header: Mapping[str, Any]) -> tuple[NetworkLayout, tuple[Band, ...]]:
    """Return the layout and the bands of a header."""
    check_fields(path, header, _BANDS_FIELDS, "bands")
    bands = tuple(band_of(path, each) for each in header["bands"])
    with faults_of(path, "bands"):
        layout = NetworkLayout(4, 4, tuple(map(tuple, header["tuples"])), ranks=header["ranks"])
        check_bands(layout, bands)
    return layout, bands


def band_of(path: Path, values: Mapping[str, Any]) -> Band:
    """Return the band that an object of a file's header describes.

    Raises:
        WeightsError: if it describes none.
    """
    check_fields(path, Band._field_defaults | dict(values), _BAND_FIELDS, "band")
    return Band(**{name: value for name, value in values.items() if name in Band._fields})


def _header(network: Network, encoding: str) -> dict[str, Any]:
    layout, bands = network.layout, network.bands
    late: dict[str, object] = {}
    if bands:
        late["bands"] = {
            "tuples": [list(cells) for cells in bands.layout.tuples],
            "ranks": bands.layout.ranks,
            "step": bands.step,
            "bands": [band._asdict() for band in bands.bands],
        }
    return {
        "rules": str(network.rules),
        "rows": layout.rows,
        "columns": layout.columns,
        "tuples": [list(cells) for cells in layout.tuples],
        "stages": list(layout.stages),
        "ranks": layout.ranks,
        "held": list(range(len(layout.stages) + 1)),
        "encoding": encoding,
        "history": [dict(entry) for entry in network.history],
        **late,
    }


# --- the networks that are installed -------------------------------------------------------------


@cache
def shipped_folders() -> tuple[Path, ...]:
    """Return where networks are: in py2048, and in each package that brings others."""
    from importlib.metadata import entry_points  # slow to import, and needed only here

    found = [find_spec(entry.module) for entry in sorted(entry_points(group="py2048.weights"))]
    brought = (folder for spec in found if spec for folder in spec.submodule_search_locations or ())
    return SHIPPED, *map(Path, brought)


def shipped_files() -> tuple[Path, ...]:
    """Return all files, by folder and name."""
    return tuple(path for folder in shipped_folders() for path in sorted(folder.glob("*.npz")))


def shipped_network(rules: Rules) -> Network | None:
    """Return the network for rules, or for a preset that plays like them; otherwise nothing."""
    path = shipped_path(rules)
    return _shipped_at(path) if path else None


def shipped_path(rules: Rules) -> Path | None:
    """Return the file of that network. It is not loaded."""
    return _shipped_paths().get(objective_key(rules))


@cache
def _shipped_paths() -> dict[tuple[object, ...], Path]:
    """Return the files by what their rules ask for; what a package brings counts before ours."""
    return {objective_key(Rules.parse(header_of(p)["rules"])): p for p in shipped_files()}


@cache
def _shipped_at(path: Path) -> Network:
    return load(path)
