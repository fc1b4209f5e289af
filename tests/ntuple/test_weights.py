"""Weights files: written, read, packed, mapped, and refused where they are damaged."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from tests.ntuple.networks import NETWORKS, SHAPES, positions

from py2048 import Board, get_rules
from py2048.cli import main
from py2048.errors import WeightsError
from py2048.ntuple.network import Network
from py2048.ntuple.weights import header_of, load, save, save_packed


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize("options", [{}, {"compress": True}], ids=["plain", "compressed"])
def test_a_saved_network_is_loaded_again(
    text: str, options: dict[str, bool], tmp_path: Path
) -> None:
    """Bit for bit, with layout, rules and history."""
    network, path = NETWORKS[text], tmp_path / "network.npz"
    save(network, path, **options)
    again = load(path)
    assert np.array_equal(again.weights, network.weights)
    for part in ("layout", "rules", "history"):
        assert getattr(again, part) == getattr(network, part)


def test_a_plain_file_can_be_mapped(tmp_path: Path) -> None:
    """Its data begin at a multiple of 64 bytes; a compressed one is refused."""
    network, path = NETWORKS["classic"], tmp_path / "network.npz"
    save(network, path)
    mapped = load(path, mapped=True)
    assert np.array_equal(mapped.weights, network.weights)
    assert not mapped.weights.flags.writeable
    assert mapped.weights.ctypes.data % 64 == 0
    assert mapped.value(Board.empty(4, 4)) == network.value(Board.empty(4, 4))
    save(network, path, compress=True)
    with pytest.raises(WeightsError, match="cannot be mapped"):
        load(path, mapped=True)


def test_stages_may_be_spread_over_files(tmp_path: Path) -> None:
    """Together they are the network; a missing one is named."""
    network = NETWORKS["classic"]
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    save(network, first, held=[0, 2])
    save(network, second, held=[1, 3])
    for _ in range(2):
        assert np.array_equal(load(first, second).weights, network.weights)
        assert np.array_equal(load(second, first).weights, network.weights)
        save_packed(network, second, step=0.5, held=[1, 3])  # finer than whole weights need
    with pytest.raises(WeightsError, match="lacks stage 1"):
        load(first)
    other = tmp_path / "other.npz"
    save(NETWORKS["classic:size=3x3"], other)
    with pytest.raises(WeightsError, match="other rules, tuples or stages"):
        load(first, other)


@pytest.mark.parametrize("text", SHAPES)
def test_packed_weights_are_off_by_half_a_step_at_most(text: str, tmp_path: Path) -> None:
    """And `load` gives exactly what `save_packed` promised; small ones are pruned."""
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


@pytest.mark.parametrize(
    ("step", "reason"), [("0", "0 is not a number from 1e-06"), ("0.01", "too small: take")]
)
def test_a_step_that_does_not_fit_is_refused_before_anything_is_measured(
    step: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Measuring takes minutes; nothing is written."""
    monkeypatch.setattr("py2048.cli.train._strength", None)
    path, packed = tmp_path / "network.npz", tmp_path / "packed.npz"
    save(NETWORKS["comp1127:size=2x4"], path)
    assert main(["weights", str(path), "--pack", str(packed), "--step", step, "--games", "5"]) == 2
    assert reason in capsys.readouterr().err
    assert not packed.exists()


@settings(max_examples=50)
@given(positions())
def test_steps_mean_what_points_mean(case: tuple[Network, Board]) -> None:
    """A network in steps, half the size in memory, has the values of the same one in points."""
    network, board = case
    table = network.weights.astype(np.int16)
    small = replace(network, table=table, step=0.5)
    points = replace(network, table=small.weights)
    assert small.value(board) == points.value(board)


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    """A changed byte of the weights, or a file cut short anywhere, is refused by one line."""
    network, path = NETWORKS["comp1127:size=2x4"], tmp_path / "network.npz"
    for packed in (False, True):
        if packed:
            save_packed(network, path, step=1.0)
        else:
            save(network, path)
        data, chance = path.read_bytes(), random.Random(3)
        with zipfile.ZipFile(path) as archive:
            info = archive.infolist()[0]
        for place in [chance.randrange(300, info.compress_size) for _ in range(20)]:
            path.write_bytes(data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
            with pytest.raises(WeightsError):
                load(path)
            assert main(["weights", str(path)]) == 2
        for length in [0, 1, 100, len(data) // 2, len(data) - 1]:
            path.write_bytes(data[:length])
            with pytest.raises(WeightsError, match=r"network\.npz"):
                load(path)


def edited(path: Path, edit: Callable[[dict[str, object]], None]) -> None:
    """Rewrite a file with another header."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    edit(header)
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda h: h.update(version=99), "version 99"),
        (lambda h: h.update(format="something"), "holds no py2048-weights"),
        (lambda h: h.update(rules="classic:size=0x0"), "rules cannot be read"),
        (lambda h: h.update(rules="classic"), "does not fit the 4x4"),
        (lambda h: h.update(tuples=[[0, 99]]), "leaves the 2x4"),
        (lambda h: h.update(encoding="magic"), "unknown encoding"),
        (lambda h: h.pop("tuples"), "lacks 'tuples'"),
        (lambda h: h.update(held="all"), "holds the stages"),
        (lambda h: h.update(stages=[64]), "lacks stage 1"),
        (lambda h: h["sha256"].update(weights="0"), "checksum of weights is wrong"),
        (lambda h: h.update(sha256={}), "lacks weights"),
    ],
)
def test_a_wrong_header_is_refused(
    edit: Callable[[dict[str, object]], None], reason: str, tmp_path: Path
) -> None:
    """Another version, kind, rules, layout or checksum, each with its reason."""
    path = tmp_path / "network.npz"
    save(NETWORKS["comp1127:size=2x4"], path)
    edited(path, edit)
    with pytest.raises(WeightsError, match=reason):
        load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """By name."""
    with pytest.raises(WeightsError, match=r"nowhere\.npz does not exist"):
        load(tmp_path / "nowhere.npz")
    (tmp_path / "text.npz").write_text("hello", encoding="utf-8")
    with pytest.raises(WeightsError, match="no py2048-weights"):
        load(tmp_path / "text.npz")


def test_the_header_can_be_read_alone(tmp_path: Path) -> None:
    """It says what the network is for and how it came to be."""
    path = tmp_path / "network.npz"
    save(NETWORKS["classic"], path)
    header = header_of(path)
    assert header["rules"] == str(get_rules("classic"))
    assert header["history"] == [{"games": 3, "moves": 4, "seconds": 5.0}]
