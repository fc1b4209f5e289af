"""Read and write weights files, whose format ``docs/reference/weights-format.md`` describes.

The folder ``data`` contains the networks bundled with py2048, one file per preset. The bundled
networks are small to keep the installation fast. Packages that register the entry point
``py2048.weights`` can provide other networks, which take precedence. The package `py2048-weights`,
whose sources are in the repository's folder ``weights``, provides the strong networks. Each folder
of networks also contains ``measured.toml`` with the networks' strengths. One records file per
network compares predicted with actual points. Every weights file contains its training history, and
checksums that are verified when the file is read.

The small ``classic`` network is a plain table without stages, which other programs can read with a
few lines of code. The network has ten 5-tuples with ``16**5`` weights each, stored tuple by tuple
as multiples of the step. A board's value is the sum of ten weights for each of its eight symmetric
images, times the step. Tiles above 8192 are downgraded first (`layout.downgraded`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal
from weakref import WeakValueDictionary

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from py2048.core.data import convert
from py2048.core.errors import WeightsError, os_errors_as, shown
from py2048.core.game.record import write_atomically
from py2048.core.rules import Rules, is_tile
from py2048.players.ntuple.archive import (
    MAX_POINTS,
    Amount,
    Archive,
    Array,
    Count,
    faults_of,
    open_archive,
    write_archive,
)
from py2048.players.ntuple.layout import NetworkLayout, Tuple, parts_of
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
)

KIND = "py2048-weights"
EXACT, PACKED = "float32", "steps"
Shape = tuple[int, ...]
MAX_STEP = 2**15 - 1
MAX_SMALL_WEIGHTS = 1 << 24
"""Networks of up to this many weights are saved with stronger compression."""
MIN_POINTS = 1e-30
"""Minimum quantisation step in points, which avoids float32 underflow."""
SHIPPED = Path(__file__).resolve().parent / "data"

RECORDS_KIND, RECORDS_VERSION = "py2048-records", 1
ROUNDED_FIELDS = ("predicted", "realised", "error")
"""`StageRecord` fields saved with one decimal."""


def save(network: Network, path: Path | str, *, compress: bool = False) -> None:
    """Save a network exactly, as float32.

    Args:
        network: The network.
        path: Target file. An existing file is replaced when the new file is complete.
        compress: Whether to compress the file, which takes longer.

    Raises:
        WeightsError: If the file cannot be written, or `load` would reject it.
    """
    target, header = Path(path), _header(network, EXACT)
    _check_written(target, header)
    weights = network.weights.reshape(-1, network.layout.size)
    arrays = chain([("weights", weights)], _packed_bands(network.bands))
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    write_archive(target, KIND, header, arrays, compression=kind)


def save_packed(network: Network, path: Path | str, *, step: float, prune: float = 0.0) -> Network:
    """Save a network in compressed form, with weights rounded to multiples of `step`.

    Each stage is stored as its difference from the previous stage. A bitmap marks the
    non-zero differences, each of which takes two bytes before compression. Late-game bands already
    have integer weights, so they are stored unchanged.

    Args:
        network: The network.
        path: Target file.
        step: Points per unit of the stored weights.
        prune: Weights with a smaller absolute value than this become 0.

    Returns:
        The network with its rounded weights, as stored in the file.

    Raises:
        WeightsError: If the file cannot be written, `load` would reject it, or a weight does not
            fit into two bytes.
    """
    target = Path(path)
    header = {**_header(network, PACKED), "step": step, "prune": prune}
    _check_written(target, header)
    steps = quantized(network, step, prune)
    arrays = chain(_packed(steps), _packed_bands(network.bands))
    # LZMA makes files 3 to 10 % smaller, but reading them takes several times as long.
    is_small = network.layout.weights <= MAX_SMALL_WEIGHTS
    kind = zipfile.ZIP_LZMA if is_small else zipfile.ZIP_DEFLATED
    write_archive(target, KIND, header, arrays, compression=kind)
    table = steps.reshape(-1)
    return Network(network.layout, network.rules, table, network.history, step, network.bands)


def quantized(network: Network, step: float, prune: float = 0.0) -> Quantized:
    """Return the weights as whole numbers of steps, int16 `[stages, size]`."""
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
        # This int16 subtraction may wrap around. The addition in `load` wraps back.
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

    Bands are kept in memory in compressed form and unpacked on demand.

    Raises:
        WeightsError: If the file is missing, damaged, inconsistent, or has another version.
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
    """Return a function that decodes and checks the weights of a stage or band."""
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
    archive: Archive, name: str, array: Array, dtype: type[np.generic], shape: Shape | None
) -> Array:
    if array.dtype != dtype or shape not in (None, array.shape):
        raise WeightsError(f"{archive.path} is damaged: {name} is {array.dtype} {array.shape}")
    return array


def header_of(path: Path | str) -> dict[str, Any]:
    """Return the header of a weights file without reading the weights.

    Raises:
        WeightsError: If the file is missing or its header is invalid.
    """
    with open_archive(path, KIND) as archive:
        check_header(archive.path, archive.header)
        return archive.header


def checked_header_of(path: Path | str) -> dict[str, Any]:
    """Return the header of a weights file after reading and verifying the whole file.

    Raises:
        WeightsError: If the file is missing or damaged.
    """
    bands = _load(path).bands
    if bands and bands.lazy:
        bands.lazy.check()
    return header_of(path)


def browser_script(path: Path | str, **facts: object) -> bytes:
    """Convert a packed weights file to a JavaScript file that defines the object `network`.

    A page opened from disk can load scripts but no other files. `network` is an object with:

    - `known` and `step`
    - `images`: number of symmetric images of the board
    - `words`: the cells of each word, four bits a cell, lowest first; every tuple uses one word of
      each image, and these words are consecutive
    - `tuples`: for each tuple, the offset of its weights, the number of its first word, and the
      shifts and masks of three runs of cells in the word, which together form a weight's index
    - `weights`: zigzag numbers, first all low bytes and then all high bytes, deflated and
      base64-encoded
    - `facts`, other values for the page

    Raises:
        WeightsError: If the file cannot be loaded or converted. Only packed weights for boards of
            up to 4x4 cells, without stages or bands, can be converted.
    """
    network = load(path)
    layout, table = network.layout, network.table
    has_parts = network.bands or layout.stages
    if has_parts or not layout.is_packed or table.dtype != np.int16:
        raise WeightsError(
            f"{path} is not for browsers: save packed weights for up to 4x4, no stages, no bands"
        )
    words, tuples = _words_of(layout)
    steps = table.astype("<i2")
    zigzag = ((steps << 1) ^ (steps >> 15)).view(np.uint8).reshape(-1, 2)
    payload = {
        "known": layout.known,
        "step": network.step,
        "images": len(layout.images),
        "words": words,
        "tuples": tuples,
        "weights": base64.b64encode(zlib.compress(zigzag.T.tobytes())).decode(),
    }
    return f"globalThis.network = {json.dumps(payload | facts)};\n".encode()


def _words_of(layout: NetworkLayout) -> tuple[list[list[int]], list[list[int]]]:
    """Return the lists ``words`` and ``tuples`` of a browser script. Tuples can share a word."""
    none, words, tuples = layout.rows * layout.columns, dict[Tuple, list[list[int]]](), []
    images = [(*image, *[none] * 8) for image in layout.images]
    for offset, cells in zip(layout.offsets, layout.tuples, strict=False):
        first = cells[0] // 4 * 4
        places, runs = tuple(range(first, first + 8)), parts_of([cell - first for cell in cells])
        if cells[-1] not in places or len(runs) > 3:
            places, runs = (*cells, *range(none, none + 8))[:8], parts_of(range(len(cells)))
        words.setdefault(places, [[image[place] for place in places] for image in images])
        number = len(images) * list(words).index(places)
        tuples.append([offset, number, *chain(*runs, [0, 0] * (3 - len(runs)))])
    return list(chain.from_iterable(words.values())), tuples


# --- records beside a file -----------------------------------------------------------------------


def load_records(path: Path | str) -> TrackRecord | None:
    """Load the records that were measured with exactly these weights, or return `None`.

    Raises:
        WeightsError: If the records file is damaged.
    """
    beside = records_path(path)
    if not beside.exists():
        return None
    try:
        data = json.loads(beside.read_text(encoding="utf-8"))
        if (data["format"], data["version"]) != (RECORDS_KIND, RECORDS_VERSION):
            raise ValueError(f"not {RECORDS_KIND} of version {RECORDS_VERSION}")
        found = msgspec.convert(data, TrackRecord, str_keys=True)
        return found if data["weights"] == digest_of(path) else None
    except OSError as error:
        raise WeightsError(f"{beside} cannot be read: {error}") from None
    except (msgspec.ValidationError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(
            f"{beside} is damaged ({error}): delete it, or measure again with py2048 weights"
        ) from None


def save_records(records: TrackRecord, path: Path | str) -> Path:
    """Save records in a file next to the weights file; return the path.

    Raises:
        WeightsError: If the file cannot be written.
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
    """Return the path of the records, such as ``net.records.json`` for ``net.npz``."""
    return Path(path).with_suffix(".records.json")


def digest_of(path: Path | str) -> str:
    """Return a digest of a weights file, computed from the checksums in its header."""
    return hashlib.sha256(json.dumps(header_of(path), sort_keys=True).encode()).hexdigest()


def _rounded(record: StageRecord) -> dict[str, Any]:
    return asdict(record) | {name: round(getattr(record, name), 1) for name in ROUNDED_FIELDS}


# --- headers -------------------------------------------------------------------------------------


Step = Annotated[float, Meta(gt=MIN_POINTS, lt=MAX_POINTS)]


class _TrainingRun(Struct):
    """The optional fields of a history entry that py2048 reads."""

    band: tuple[Count, Count] | UnsetType = UNSET
    begun: Count | UnsetType = UNSET
    games: Amount | UnsetType = UNSET
    moves: Amount | UnsetType = UNSET
    seconds: Amount | UnsetType = UNSET
    kept: bool | UnsetType = UNSET


class _Bands(Struct):
    tuples: list[list[Count]]
    ranks: Count
    step: Step
    bands: list[Band]


class _Header(Struct, kw_only=True):
    rules: str
    rows: Count
    columns: Count
    tuples: list[list[Count]]
    stages: list[Count]
    ranks: Count
    held: list[Count]
    encoding: Literal["float32", "steps"]
    history: list[_TrainingRun]
    bands: _Bands | UnsetType = UNSET


class _PackedHeader(_Header, kw_only=True):
    step: Step
    prune: Amount


def check_header(path: Path, header: Mapping[str, Any]) -> tuple[NetworkLayout, Rules]:
    """Check that a header describes a valid network; return its layout and rules.

    Raises:
        WeightsError: If the header is invalid. The message names the file, the field and its value.
    """
    kind = _PackedHeader if header.get("encoding") == PACKED else _Header
    convert(header, kind, WeightsError, f"{path} is damaged")
    with faults_of(path, "rules"):
        rules = Rules.parse(header["rules"])
    for name in ("rows", "columns"):
        if header[name] != getattr(rules, name):
            raise WeightsError(
                f"{path} is damaged: {name} is {header[name]}, but the rules {rules.name} are for "
                f"{rules.rows}x{rules.columns}"
            )
    with faults_of(path, "tuples, stages and ranks"):
        layout = _layout_in(header, rules.shape, tuple(header["stages"]))
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
    """Check, before a header is written, that `load` will accept it."""
    try:
        check_header(path, json.loads(json.dumps(header)))
    except WeightsError as error:
        fault = str(error).removeprefix(f"{path} is damaged: ")
        raise WeightsError(
            f"{path} was not written, because it could not be loaded again: {fault}"
        ) from None


def _bands_in(path: Path, header: Mapping[str, Any]) -> tuple[NetworkLayout, tuple[Band, ...]]:
    """Return the network layout and the bands that a header describes."""
    bands = tuple(band_of(path, each) for each in header["bands"])
    with faults_of(path, "bands"):
        layout = _layout_in(header, (4, 4))
        check_bands(layout, bands)
    return layout, bands


def _layout_in(
    header: Mapping[str, Any], shape: tuple[int, int], stages: tuple[int, ...] = ()
) -> NetworkLayout:
    layout = NetworkLayout(*shape, tuple(map(tuple, header["tuples"])), stages, header["ranks"])
    if header["tuples"] != [list(cells) for cells in layout.tuples]:
        raise WeightsError("the cells of each tuple must ascend")
    return layout


def band_of(path: Path, values: object) -> Band:
    """Return the band described by a JSON object in a header.

    Raises:
        WeightsError: If the object is invalid.
    """
    band = convert(values, Band, WeightsError, f"{path} is damaged", "band")
    for tile in (band.tile, band.ending):
        if not is_tile(tile):
            raise WeightsError(f"{path} is damaged: band: {tile} is not a tile")
    return band


def _header(network: Network, encoding: str) -> dict[str, Any]:
    layout, bands = network.layout, network.bands
    header = {
        "rules": str(network.rules),
        "rows": layout.rows,
        "columns": layout.columns,
        "tuples": [list(cells) for cells in layout.tuples],
        "stages": list(layout.stages),
        "ranks": layout.ranks,
        "held": list(range(len(layout.stages) + 1)),
        "encoding": encoding,
        "history": [dict(entry) for entry in network.history],
    }
    if bands:
        header["bands"] = {
            "tuples": [list(cells) for cells in bands.layout.tuples],
            "ranks": bands.layout.ranks,
            "step": bands.step,
            "bands": [asdict(band) for band in bands.bands],
        }
    return header


# --- the networks that are installed -------------------------------------------------------------


@cache
def shipped_folders() -> tuple[Path, ...]:
    """Return the folders with networks: first py2048's own folder, then those of other packages."""
    from importlib.metadata import entry_points  # slow to import

    found = [find_spec(entry.module) for entry in sorted(entry_points(group="py2048.weights"))]
    brought = (folder for spec in found if spec for folder in spec.submodule_search_locations or ())
    return SHIPPED, *map(Path, brought)


def shipped_files() -> tuple[Path, ...]:
    """Return all network files, ordered by folder and name."""
    return tuple(path for folder in shipped_folders() for path in sorted(folder.glob("*.npz")))


def shipped_network(rules: Rules) -> Network | None:
    """Return the installed network for these rules or for equivalent rules, or None."""
    path = shipped_path(rules)
    if path is None:
        return None
    network = _shipped.get(path) or load(path)
    return _shipped.setdefault(path, network)


def shipped_path(rules: Rules) -> Path | None:
    """Return the path of the installed network for these rules, without loading the network."""
    return _shipped_paths().get(rules.objective)


@cache
def _shipped_paths() -> dict[tuple[object, ...], Path]:
    """Return the paths of all installed networks, keyed by `Rules.objective`.

    Networks from plugins replace bundled networks for the same objective.
    """
    return {Rules.parse(header_of(p)["rules"]).objective: p for p in shipped_files()}


_shipped = WeakValueDictionary[Path, Network]()
"""Loaded networks, which stay in memory as long as a player uses them."""
