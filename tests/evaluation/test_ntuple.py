"""n-tuple networks: what they sum, which boards they take, and their files."""

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
from hypothesis import strategies as st

from py2048 import Board, Direction, Game, Rules, get_rules, make_player
from py2048._jit import plain_form
from py2048.errors import BoardError, PlayerError, WeightsError
from py2048.evaluation import _ntuple_kernels as kernels
from py2048.evaluation import _steps_kernels as steps_kernels
from py2048.evaluation import weights
from py2048.evaluation.layout import Layout, images, parse_tuples
from py2048.evaluation.lowering import lowered
from py2048.evaluation.ntuple import Network, code_of
from py2048.evaluation.shipped import shipped_network
from py2048.evaluation.weights import header_of, load, save, save_packed

SHAPES = {
    "classic": ("0123 4567 0145 12459", (256, 1024, 1536), 16),
    "classic:size=3x3": ("lines+squares", (64,), 5),
    "comp1127:size=2x4": ("0123 0145", (), 12),
    "qsan_qarut:size=2x5": ("squares+012", (128, 4096), 9),
    "classic:size=5x5": ("0-1-2 6-7-12 0-24", (16384,), 16),
}
"""For rules: tuples, stages and how many ranks weights tell apart."""


def network_of(text: str) -> Network:
    """A network with whole-numbered random weights, which sum exactly in any order."""
    rules = Rules.parse(text)
    tuples, stages, ranks = SHAPES[text]
    layout = Layout(*rules.shape, parse_tuples(tuples, *rules.shape), stages, ranks)
    weights = np.random.default_rng(7).integers(-500, 500, layout.weights).astype(np.float32)
    return Network(layout, rules, weights, ({"games": 3, "moves": 4, "seconds": 5.0},))


NETWORKS = {text: network_of(text) for text in SHAPES}


@st.composite
def positions(draw: st.DrawFn) -> tuple[Network, Board]:
    """A network and a board of its shape, with tiles up to 2**17."""
    network = NETWORKS[draw(st.sampled_from(sorted(NETWORKS)))]
    rows, columns = network.rules.shape
    ranks = st.one_of(st.just(0), st.integers(1, 4), st.integers(1, 17))
    cells = draw(st.lists(ranks, min_size=rows * columns, max_size=rows * columns))
    tiles = [1 << rank if rank else 0 for rank in cells]
    return network, Board([tiles[columns * r : columns * (r + 1)] for r in range(rows)])


def images_of(board: Board) -> list[tuple[tuple[int, ...], ...]]:
    """The images of a board under the symmetries of its shape."""
    rows = board.rows
    seen = [rows, tuple(row[::-1] for row in rows), rows[::-1]]
    seen.append(tuple(row[::-1] for row in rows[::-1]))
    if board.shape[0] == board.shape[1]:
        seen += [tuple(zip(*image, strict=True)) for image in list(seen)]
    return seen


def plain_value(network: Network, board: Board) -> float:
    """The value by its definition."""
    layout = network.layout
    tiles = {tile for row in board.rows for tile in row}
    stage = sum(sum(tiles) >= least for least in layout.stages)
    total = 0.0
    for image in images_of(board):
        ranks = lowered(
            [max(tile.bit_length() - 1, 0) for row in image for tile in row], layout.known
        )
        for cells, offset in zip(layout.tuples, layout.offsets[:-1], strict=True):
            radix = 16 if layout.is_packed else layout.ranks
            index = sum(ranks[cell] * radix**place for place, cell in enumerate(cells))
            total += float(network.weights[stage * layout.size + offset + index])
    return total


@settings(max_examples=150)
@given(positions())
def test_a_value_is_the_sum_of_the_weights_that_all_images_meet(
    case: tuple[Network, Board],
) -> None:
    """Whole weights sum exactly; every stage, shape and tile, those above 32768 included."""
    network, board = case
    assert network.value(board) == plain_value(network, board)


@settings(max_examples=150)
@given(positions())
def test_a_move_is_worth_its_points_and_what_follows(case: tuple[Network, Board]) -> None:
    """Exactly the legal moves are rated, by the reference's slides."""
    network, board = case
    rules = network.rules
    expected = {}
    for direction in Direction:
        slide = board.slide(direction, rules.merging)
        if slide.changed:
            gain: float = slide.points if "qsan" not in rules.name else 3.0
            if rules.ends_at_target and slide.board.max_tile >= (rules.target or 0):
                # Tiles at the target on the board before have ended that game already.
                over = board.max_tile >= (rules.target or 0) and slide.points < (rules.target or 0)
                value = plain_value(network, slide.board) if over else 0.0
            else:
                value = plain_value(network, slide.board)
            expected[direction] = gain + value
    assert network.rate(board) == expected


def test_boards_of_another_shape_are_refused() -> None:
    """The message names both shapes."""
    with pytest.raises(BoardError, match="4x4, not on 3x3"):
        NETWORKS["classic"].value(Board.empty(3, 3))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tuples": ()}, "at least one tuple"),
        ({"tuples": ((0, 0),)}, "names a cell twice"),
        ({"tuples": ((0, 16),)}, "leaves the 4x4 board"),
        ({"stages": (3,)}, "a sum of different tiles"),
        ({"stages": (64, 32)}, "must ascend"),
        ({"ranks": 17}, "tells 2 to 16 ranks apart, not 17"),
        ({"tuples": (tuple(range(9)),)}, "are more than"),
    ],
)
def test_impossible_layouts_are_refused(change: dict[str, object], reason: str) -> None:
    """Each with its reason."""
    values = {"rows": 4, "columns": 4, "tuples": ((0, 1),)} | change
    with pytest.raises(WeightsError, match=reason):
        Layout(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("4x6", "012345 456789 012456 45689a"),
        ("8x6", "012456 12569d 012345 01567a 01259a 0159de 01589d 01246a"),
    ],
)
def test_named_tuples_are_those_of_the_papers(name: str, printed: str) -> None:
    """Each is an image of the tuple that the paper has in its place."""
    moves = list(images(4, 4))
    for ours, theirs in zip(parse_tuples(name, 4, 4), parse_tuples(printed, 4, 4), strict=True):
        assert ours in {tuple(sorted(move[cell] for cell in theirs)) for move in moves}


@pytest.mark.parametrize(
    ("text", "reason"), [("4x7", "did you mean '4x6'"), ("lnes", "did you mean 'lines'")]
)
def test_unknown_tuples_are_refused(text: str, reason: str) -> None:
    """The nearest name is suggested."""
    with pytest.raises(WeightsError, match=reason):
        parse_tuples(text, 4, 4)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [("classic", "does not fit the 4x4 board"), ("cits1401:size=3x3,start=2x2:1", "not random")],
)
def test_rules_that_a_network_cannot_play_are_refused(rules: str, reason: str) -> None:
    """Another shape; a spawn without chance."""
    with pytest.raises(WeightsError, match=reason):
        Network.zeros(Layout(3, 3, ((0, 1),)), Rules.parse(rules))


# --- files ---------------------------------------------------------------------------------------


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


@settings(max_examples=50)
@given(positions())
def test_steps_mean_what_points_mean(case: tuple[Network, Board]) -> None:
    """A network in steps, half the size in memory, has the values of the same one in points."""
    network, board = case
    table = network.weights.astype(np.int16)
    small = replace(network, table=table, step=0.5)
    points = replace(network, table=small.weights)
    assert small.value(board) == points.value(board)
    assert small.rate(board) == points.rate(board)


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


# --- the player ----------------------------------------------------------------------------------


@settings(max_examples=100)
@given(case=positions())
def test_the_player_never_returns_an_illegal_move(
    case: tuple[Network, Board], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On any board of any shape, with weights from a file."""
    network, board = case
    if board.shape == (4, 4):  # a search of other tuples would be compiled for this test alone
        network = shipped_network(get_rules("ist")) or network
    path = tmp_path_factory.getbasetemp() / f"{network.rules.rows}x{network.rules.columns}.npz"
    if not path.exists():
        save_packed(network, path, step=network.step)
    player = make_player(f"ntuple:weights={path}")
    game = Game(network.rules, board=board)
    if game.legal_directions():
        assert player.choose(game) in game.legal_directions()


def test_weights_of_other_rules_are_refused(tmp_path: Path) -> None:
    """The message names both rules; without weights it says where to get some."""
    path = tmp_path / "network.npz"
    save(NETWORKS["classic"], path)
    with pytest.raises(PlayerError, match="are for classic"):
        make_player(f"ntuple:weights={path}").choose(Game(get_rules("ist"), seed=1))
    with pytest.raises(PlayerError, match="py2048 train"):
        make_player("ntuple").choose(Game(get_rules("7x7"), seed=1))
    with pytest.raises(PlayerError, match="does not exist"):
        make_player(f"ntuple:weights={tmp_path / 'nowhere.npz'}")


@pytest.fixture(scope="module")
def both_indexers() -> Callable[[int, int], tuple[list[int], list[int]]]:
    """The indices of a packed board, by tables and by code made for the network."""
    network = NETWORKS["classic"]
    tailored = kernels.indexer_4x4(code_of(network.layout))

    def indices(low: int, high: int) -> tuple[list[int], list[int]]:
        boards = np.array([[low, high]], np.uint64)
        out = np.zeros((2, network.layout.active), np.uint64)
        for row, write in enumerate((kernels.indices_4x4, tailored)):
            with np.errstate(over="ignore"):
                plain_form(write)(boards, 0, network.space, out, row)
        return out[0].tolist(), out[1].tolist()

    return indices


@settings(max_examples=60)
@given(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 1 << 60, 1 << 20]))
def test_tailored_indices_are_those_of_the_tables(
    both_indexers: Callable[[int, int], tuple[list[int], list[int]]], low: int, high: int
) -> None:
    """Code made for one network finds the same weights in the same order."""
    by_tables, by_code = both_indexers(low, high)
    assert by_code == by_tables
    assert len(set(by_code)) > 1 or low in (0, 2**64 - 1)


@given(st.lists(st.tuples(st.integers(-(2**15), 2**15 - 1), st.integers(-(2**15), 2**15 - 1))))
def test_changes_are_the_same_compiled_and_in_numpy(pairs: list[tuple[int, int]]) -> None:
    """Numbers before and after, of any sign and however far apart, are told by their changes."""
    before, after = np.array(pairs, np.int16).reshape(-1, 2).T.copy()
    change = after - before
    zigzag = ((change << 1) ^ (change >> 15)).view(np.uint16)[change != 0]
    parts = np.packbits(change != 0), *(zigzag >> s & 0xFF for s in (0, 8))
    given = [part.astype(np.uint8) for part in parts]
    for add in (weights.add_changes, steps_kernels.add_changes, steps_kernels.add_changes.py_func):
        found = before.copy()
        add(*given, found)
        assert np.array_equal(found, after)
