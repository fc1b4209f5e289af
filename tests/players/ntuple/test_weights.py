"""Tests of weights files: saving, loading, compression and damage."""

from __future__ import annotations

import random
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.players.ntuple.networks import NETWORKS, SHAPES, edited, positions

from py2048.cli import main
from py2048.core.errors import WeightsError
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import header_of, load, save, save_packed


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize("options", [{}, {"compress": True}], ids=["plain", "compressed"])
def test_a_saved_network_is_loaded_again(text, options, tmp_path):
    """A network survives a round trip bit for bit, with layout, rules and history."""
    network, path = NETWORKS[text], tmp_path / "network.npz"
    save(network, path, **options)
    again = load(path)
    assert np.array_equal(again.weights, network.weights)
    for part in ("layout", "rules", "history"):
        assert getattr(again, part) == getattr(network, part)


@pytest.mark.parametrize("text", SHAPES)
def test_packed_weights_are_off_by_half_a_step_at_most(text, tmp_path):
    """Packed weights are off by at most half a step, and small ones are pruned."""
    network, path = NETWORKS[text], tmp_path / "small.npz"
    promised = save_packed(network, path, step=8.0, prune=20.0)
    again = load(path)
    assert np.array_equal(again.weights, promised.weights)
    assert (again.table.dtype, again.step) == (np.int16, 8.0)
    off = np.abs(again.weights - network.weights)
    small = np.abs(network.weights) < 20
    assert off[~small].max() <= 4
    assert not again.weights[small].any()
    with pytest.raises(WeightsError, match="too small: take"):
        save_packed(network, path, step=0.01)


@settings(max_examples=50)
@given(positions())
def test_steps_mean_what_points_mean(case):
    """A quantised network has the values of the same network in points."""
    network, board = case
    table = network.weights.astype(np.int16)
    small = replace(network, table=table, step=0.5)
    points = replace(network, table=small.weights)
    assert small.value(board) == points.value(board)


def test_every_damaged_byte_is_noticed(tmp_path):
    """Changed bytes and truncated files are rejected with a one-line error."""
    network, path = NETWORKS["comp1127:size=2x4"], tmp_path / "network.npz"
    for packed in (False, True):
        if packed:
            save_packed(network, path, step=1.0)
        else:
            save(network, path)
        data, chance = path.read_bytes(), random.Random(3)
        with zipfile.ZipFile(path) as archive:
            info, header = archive.infolist()[0], archive.getinfo("header.json")
        start = header.header_offset + 30 + len(header.filename)
        places = [chance.randrange(300, info.compress_size) for _ in range(20)]
        places += [start + chance.randrange(header.compress_size) for _ in range(20)]
        for place in places:
            path.write_bytes(data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
            with pytest.raises(WeightsError):
                load(path)
        assert main(["weights", str(path)]) == 2
        for length in [0, 1, 100, len(data) // 2, len(data) - 1]:
            path.write_bytes(data[:length])
            with pytest.raises(WeightsError, match=r"network\.npz"):
                load(path)


BAND = {"tile": 64, "least": 90}
BANDS = {"tuples": [[0, 1]], "ranks": 9, "step": 2.0, "bands": [BAND]}


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("version", 99, "has py2048-weights version 99"),
        ("format", "something", "is not a py2048-weights file"),
        ("rules", "classic:size=0x0", "rules: rows must be"),
        ("rules", None, "rules = None: expected `str`, got `null`"),
        ("rules", "classic", "rows is 2, but the rules classic are for 4x4"),
        ("rows", 2.0, "rows = 2.0: expected `int`, got `float`"),
        ("tuples", [[0, 99]], "leaves the 2x4"),
        ("tuples", [[0, 1.5]], r"tuples\[0\]\[1\]: expected `int`, got `float`"),
        ("tuples", [[1, 0]], "the cells of each tuple must ascend"),
        ("stages", [64], "held is .0., but a file holds all stages, 0 to 1"),
        ("stages", "", "stages = '': expected `array`, got `str`"),
        ("stages", [2**62], r"from 4 to 2\*\*62"),
        ("held", "all", "held = 'all': expected `array`, got `str`"),
        ("held", [0, 1], "but a file holds all stages, 0 to 0"),
        ("encoding", "magic", "encoding = 'magic': invalid enum value 'magic'"),
        ("step", float("inf"), r"step = inf: expected `float` < 1e\+30"),
        ("step", 10**400, "step = 1000.*: number out of range"),
        ("prune", -1.0, "prune = -1.0: expected `float` >= 0.0"),
        ("history", 5, "history = 5: expected `array`, got `int`"),
        ("history", [{"games": "many"}], r"history\[0\].games: expected `float`"),
        ("history", [{}, {"band": 5}], r"history\[1\].band: expected `array`"),
        ("bands", 5, "bands = 5: expected `object`, got `int`"),
        ("bands", {}, "bands = {}: object missing required field `tuples`"),
        ("bands", BANDS | {"step": 0}, "bands.step = 0: expected `float` > 1e-30"),
        ("bands", BANDS | {"bands": []}, "bands: bands must ascend"),
        ("bands", BANDS | {"bands": [BAND | {"tile": 3}]}, "band: 3 is not a tile"),
        ("bands", BANDS, "rules: bands need a 4x4 board"),
        ("sha256", {"stage0/used": 5}, "sha256.*: expected `str`, got `int`"),
        ("sha256", {}, "lacks stage0/used"),
        ("sha256", {f"stage0/{part}": "0" for part in ("used", "low", "high")}, "is wrong"),
    ],
)  # fmt: skip
def test_a_wrong_header_is_refused(name, value, reason, tmp_path, cli):
    """The error is one line that names the file, the field and its value."""
    path = tmp_path / "network.npz"
    save_packed(NETWORKS["comp1127:size=2x4"], path, step=1.0)
    edited(path, lambda header: header.update({name: value}))
    with pytest.raises(WeightsError, match=reason) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert re.search(reason, cli.error("weights", str(path)))


def loaded(path: Path) -> Network | str:
    """Load a network, or return the error."""
    try:
        return load(path)
    except WeightsError as error:
        return str(error)


texts = st.text(max_size=3)
plain = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    plain, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=5
)
near = st.lists(st.integers(-1, 9), max_size=4)
"""More often right than any value."""


@settings(max_examples=40)
@given(
    data=st.data(), text=st.sampled_from(sorted(SHAPES.keys() - {"classic"})), packed=st.booleans()
)
def test_any_header_is_read_as_it_says_or_refused(data, text, packed, tmp_path_factory):
    """Any header either survives a round trip or is rejected."""
    network, path = NETWORKS[text], tmp_path_factory.mktemp("weights") / "network.npz"
    save_packed(network, path, step=1.0) if packed else save(network, path)
    header = header_of(path)
    name = data.draw(st.sampled_from(sorted(header)))
    value = data.draw(values | near | st.lists(near, max_size=3))
    edited(path, lambda header: header.update({name: value}))
    found = loaded(path)
    if isinstance(found, str):
        assert str(path) in found
        assert len(found.splitlines()) == 1
        assert len(found) < len(str(path)) + 400
        return
    assert main(["weights", str(path)]) == 0
    assert header_of(path)[name] == value
    save(found, path)
    again = load(path)
    assert np.array_equal(again.weights, found.weights)
    assert again == replace(found, table=again.table, step=1.0)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"step": 0.0}, "step = 0.0: expected `float` > 1e-30"),
        ({"step": float("inf")}, r"step = inf: expected `float` < 1e\+30"),
        ({"step": 1.0, "prune": float("nan")}, "prune = nan: expected `float` >= 0.0"),
    ],
)
def test_nothing_is_saved_that_no_load_reads(values, reason, tmp_path):
    """An invalid header is detected before the file is written."""
    path = tmp_path / "network.npz"
    with pytest.raises(WeightsError, match=f"network.npz was not written, .*{reason}"):
        save_packed(NETWORKS["classic"], path, **values)
    assert not path.exists()


def test_a_history_is_checked_as_it_is_read_back(tmp_path):
    """A history is checked in its JSON form, in which tuples are lists."""
    entry = {"band": (8192, 0), "games": 1e6, "moves": 2e9, "seconds": 600}
    network = replace(NETWORKS["comp1127:size=2x4"], history=(entry,))
    save(network, tmp_path / "network.npz")
    (read,) = load(tmp_path / "network.npz").history
    assert read == entry | {"band": [8192, 0]}


def test_a_missing_file_is_refused(tmp_path):
    """The error names the file."""
    with pytest.raises(WeightsError, match=r"nowhere\.npz does not exist"):
        load(tmp_path / "nowhere.npz")
    (tmp_path / "text.npz").write_text("hello", encoding="utf-8")
    with pytest.raises(WeightsError, match="is not a py2048-weights file"):
        load(tmp_path / "text.npz")
