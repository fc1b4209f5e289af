"""Records can be read, replayed and verified, and changed ones are rejected."""

from __future__ import annotations

import hashlib
import json
import pickle
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.game.foreign_games import played
from tests.strategies import directions, games

from py2048 import Board, Direction, Record, Spawn, get_rules
from py2048.core.errors import RecordError
from py2048.core.game import importing
from py2048.core.game import record as records
from py2048.core.game.importing import load_record
from py2048.core.game.record import plain_name, replacing
from py2048.core.game.turn import decode_steps, direction_of, encode_step


def sample(moves: int = 200, seed: int = 7) -> Record:
    """Return the record of a short game."""
    return played("classic", seed, moves).record()


@given(games())
def test_records_round_trip_and_verify(game):
    """A record that is written and read is equal, verifies, and ends in the same position."""
    record = game.record()
    again = Record.from_json(record.to_json())
    assert again == record
    again.verify()
    assert "replayed" not in vars(pickle.loads(pickle.dumps(again)))
    positions = list(again.replay())
    assert all(one is other for one, other in zip(positions, again.replayed, strict=True))
    assert positions == list(record.replay())
    assert len(positions) == len(game.turns)
    assert record.plies == game.ply
    if positions:
        board, turn, score = positions[-1]
        assert (board, turn, score) == (game.board, game.turns[-1], game.score)


def test_a_record_survives_its_file(tmp_path):
    """Saving and loading loses nothing."""
    path = tmp_path / "game.2048.json"
    record = replace(sample(seed=0), player="Ada", undos=2, hints=1, times=(5, 7))
    assert record.follows_seed()
    record.verify()  # there may be fewer times than turns
    record.save(path)
    assert Record.load(path) == record
    assert list(tmp_path.iterdir()) == [path]


@given(st.data())
def test_a_changed_byte_is_refused(data):
    """A file with any changed, removed or doubled byte is rejected."""
    text = sample(moves=20).to_json()
    index = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from("".join(map(chr, range(32, 127))) + "\n\t"))
    for changed in (
        text[:index] + other + text[index + 1 :],
        text[:index] + text[index + 1 :],
        text[:index] + text[index] + text[index:],
    ):
        if changed != text:
            with pytest.raises(RecordError):
                Record.from_json(changed)


def rewritten(record: Record, **changes: object) -> str:
    """Return a record file with changed fields and a correct checksum.

    Fields set to ``...`` are removed.
    """

    def lines(data: dict[str, object]) -> str:
        texts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items()]
        return "{\n" + ",\n".join(texts) + "\n}\n"

    data = json.loads(record.to_json())
    del data["checksum"]
    data = {name: value for name, value in (data | changes).items() if value is not ...}
    checksum = hashlib.sha256(lines(data).encode()).hexdigest()
    return lines(data | {"checksum": f"sha256:{checksum}"})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"score": 99}, "claims a score of 99"),
        ({"turns": "L1C"}, "its turns give 0"),
        ({"seed": 8}, "ply 1: the spawn is not the draw of seed 8"),
        ({"rules": "ist"}, "layout"),
        ({"times": [5] * 201}, "201 thinking times for 200 turns"),
        ({"started": "yesterday"}, "started is 'yesterday', but must be a time"),
        ({"finished": "2026-02-30T12:00:00Z"}, "finished is '2026-02-30T12:00:00Z'"),
        ({"player": "\x1b[2JAda"}, r"player is '\\x1b\[2JAda': a name has no control"),
        ({"player": "Ada\x9b"}, "a name has no control characters"),
    ],
)
def test_a_forged_record_does_not_verify(changes, reason):
    """A correct checksum does not help a forged game, because the game itself is verified."""
    with pytest.raises(RecordError, match=reason):
        Record.from_json(rewritten(sample(), **changes)).verify()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"score": "12"}, "score is '12', but must be a whole number"),
        ({"seed": -1}, "seed is -1, but must be a seed"),
        ({"seed": 2**64}, "but must be a seed"),
        ({"start": [[0, 3, 0, 0]] * 4}, "3 is not a tile"),
        ({"start": [[2, 2]]}, "shape"),
        ({"start": [[2, 2]] * 5}, "shape"),
        ({"start": [["2", 2]]}, "rows of whole numbers"),
        ({"start": "2 2"}, "rows of whole numbers"),
        ({"rules": "clasic"}, "did you mean"),
        ({"turns": 5}, "turns is 5, but must be a text"),
        ({"times": [-1]}, "milliseconds"),
        ({"undos": True}, "undos"),
        ({"colour": 1}, "unknown fields: colour"),
        ({"seed": ...}, "missing fields: seed"),
    ],
)
def test_wrong_fields_are_refused(changes, reason):
    """A wrong field is rejected with its name, its value and what it must be."""
    with pytest.raises(RecordError, match=reason):
        Record.from_json(rewritten(sample(), **changes))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a record"),
        ("[]", "not a record"),
        ("{", "not a record"),
        ('{"format": "other"}', "format"),
        ('{"format": "zip"}', "format"),
        (5, "not a record"),
        ('{"format": "py2048 record", "version": 99}', "update py2048"),
        ('{"format": "py2048 record", "version": "1"}', "not a version"),
        ('{"format": "py2048 record", "version": 0}', "version 0 is not a version"),
        pytest.param(sample().to_json() + " ", "its layout differs", id="a blank more"),
        ('{"format": "py2048 record", "version": 1}', "checksum"),
        pytest.param("[" * 100_000, "not a record", id="deep"),
    ],
)
def test_texts_that_are_not_records_are_refused(text, reason):
    """Each rejection is one line with the reason."""
    with pytest.raises(RecordError, match=reason) as caught:
        Record.from_json(text)
    assert "\n" not in str(caught.value)


TWO = Board.parse("2 2 . . / . . . . / . . . . / . . . .")


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ("U10", r"ply 1 \(up\): the move changes nothing"),
        ("L10", r"ply 1 \(left\): a tile spawned on cell \(0, 0\), which is occupied"),
        ("L3F", "a 8 never spawns"),
        ("L1FL1C", r"ply 2 \(left\): a tile spawned on cell \(3, 0\), which is occupied"),
        ("L1F?1F", r"turn text '\?1F' at character 4 is not a turn"),
        ("L1", "not a turn"),
        ("L0F", "not a turn"),
        ("L1G", "not a turn"),
        ("L1H", "not a turn"),
        ("X1F", "not a turn"),
        ("u", "does not count under these rules"),
    ],
)
def test_an_illegal_turn_is_reported_with_its_ply(turns, reason):
    """Replay stops at the first turn that breaks the rules."""
    with pytest.raises(RecordError, match=reason):
        Record(get_rules("classic"), TWO, turns, 4).verify()


def test_no_turn_follows_the_end():
    """A record with turns after the end of the game is rejected."""
    board = Board.parse("1024 1024 . . / . . . . / . . . . / . . . .")
    record = Record(get_rules("comp1127"), board, "L1FR1C", 2048)
    with pytest.raises(RecordError, match="the game was over"):
        record.verify()
    replace(record, turns="L1F").verify()


def test_edge_spawns_are_checked():
    """Edge spawns on the wrong cell and hidden penalties are rejected."""
    start = Board.empty(5, 5).with_tile((2, 2), 2)
    rules = get_rules("cits1401")
    Record(rules, start, "U1O", 1).verify()
    with pytest.raises(RecordError, match="instead of"):
        Record(rules, start, "U1N", 1).verify()
    with pytest.raises(RecordError, match="legal move is written as an illegal attempt"):
        Record(rules, start, "u", -1).verify()


@given(directions, st.integers(1, 63), st.integers(1, 64), st.integers(2, 64), st.data())
def test_turn_codes_round_trip(direction, rank, rows, columns, data):
    """All legal spawns on all boards, and illegal attempts, can be encoded and decoded."""
    cell = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    spawn = Spawn(2**rank, cell)
    code = encode_step(direction, spawn, (rows, columns))
    bad = encode_step(direction, None, (rows, columns))
    assert list(decode_steps(bad + code, (rows, columns))) == [
        (direction, None),
        (direction, spawn),
    ]
    assert direction_of(code) is direction_of(bad) is direction


def test_a_cell_has_two_digits_only_beyond_64_cells():
    """Cell numbers are row-major base-64 numbers."""
    last = Spawn(2, (7, 7))
    assert [encode_step(Direction.UP, last, (8, width)) for width in (8, 9)] == ["U1_", "U116"]


def test_a_record_has_the_types_of_its_fields():
    """A wrong type is named with its value."""
    with pytest.raises(RecordError, match=r"^rules must be of type Rules, not 'classic'$"):
        Record("classic", TWO, "", 0)
    assert Record(get_rules("classic"), TWO, "", 0, seed=2**64 - 1).seed == 2**64 - 1


def test_names_lose_only_control_characters():
    """Both ranges of control characters are removed, and nothing else."""
    assert plain_name("\x00\x1f \x7e\x7f\x9f\xa0\xe9") == " \x7e\xa0\xe9"


def test_files_of_the_maximum_size_are_read(tmp_path, monkeypatch):
    """Larger files are refused before they are parsed, and so are names that are none."""
    record, path = sample(), tmp_path / "game.2048.json"
    record.save(path)
    for module in (records, importing):
        monkeypatch.setattr(module, "MAX_BYTES", path.stat().st_size)
    assert Record.load(path) == load_record(path) == record
    with path.open("a") as file:
        file.write(" ")
    for load in (Record.load, load_record):
        with pytest.raises(RecordError, match=f"more than {path.stat().st_size - 1:,} bytes"):
            load(path)
    with pytest.raises(RecordError, match="5 is not the name of a file"):
        Record.load(5)


def test_an_interrupted_writer_leaves_nothing_behind(tmp_path):
    """The old file stays, and the temporary one is removed."""
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write("no bytes")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("file", "old")]


def test_files_that_cannot_be_read_are_named(tmp_path):
    """Missing, binary and damaged files are rejected with their path."""
    missing = tmp_path / "missing"
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    damaged = tmp_path / "damaged"
    damaged.write_text(sample().to_json()[:-50])
    for path, reason in [
        (missing, "No such file"),
        (binary, "not UTF-8 text"),
        (damaged, "not a record"),
    ]:
        with pytest.raises(RecordError, match=reason) as caught:
            Record.load(path)
        assert str(path) in str(caught.value)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    """After a failed save, the old file is unchanged and the error is one line."""
    with pytest.raises(RecordError, match="cannot write"):
        sample().save(tmp_path / "nowhere" / "game.2048.json")
    full = Path("/dev/full")
    if full.exists():
        with pytest.raises(OSError, match="No space"):
            full.write_bytes(b"x")
    path = tmp_path / "game.2048.json"
    path.write_text("my essay")
    with pytest.raises(
        RecordError, match="the file exists and is not a record: choose another name"
    ):
        sample().save(path)
    assert path.read_text() == "my essay"
    path.write_text("")  # left over from a killed program
    sample().save(path)
    sample(seed=8).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
