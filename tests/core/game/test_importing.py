"""Games of other programs become verified records, or are rejected with the location."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.game.foreign_games import NEW, new_text, old_digits, old_text, played, rpl, vrs

from py2048 import Board, Game, Record
from py2048.core.errors import RecordError
from py2048.core.game.importing import (
    STDIN,
    load_record,
    load_record_file,
    load_records,
    parse_records,
)

HUGE = "9" * 5000
"""More digits than Python parses as an int."""


def same_game(record: Record, game: Game) -> bool:
    """Return whether a record has the start, turns and score of a game."""
    record.verify()
    wanted = game.record()
    return (record.start, record.turns, record.score) == (wanted.start, wanted.turns, game.score)


def one(data: bytes | str) -> Record:
    (record,) = parse_records(data)
    return record


@pytest.mark.parametrize("name", ["classic", "3x3", "3x4", "2x4"])
def test_whole_games_of_every_size(name):
    """Every turn is imported in every format, and sizes map to the right presets."""
    game = played(name, 3, 500)
    binary = rpl(game), rpl(game, from_first=True), vrs(game)
    for data in (old_text(game), new_text(game), *binary):
        record = one(data)
        assert same_game(record, game)
        assert record.rules == game.rules


@pytest.mark.parametrize("write", [old_text, new_text])
@pytest.mark.parametrize(
    "sent",
    [
        str.encode,
        lambda text: text.encode("utf-8-sig"),
        lambda text: f"Here is my replay.\n\n{text}\n\nGood game!\n",
        lambda text: "\r\n".join(text[k : k + 72] for k in range(0, len(text), 72)) + "\r\n",
    ],
)
def test_a_game_arrives(write, sent):
    """Encodings, byte order marks, surrounding text and line endings do not matter."""
    game = played("classic", 5, 60)
    assert same_game(one(sent(write(game))), game)


def test_several_replays_in_one_text():
    """A text may contain several replays, in either format and of any size."""
    some = [played(f"classic:size={size}", 3, 50) for size in ("4x4", "4x2", "5x3")]
    text = f"{new_text(some[0])}\n{old_text(some[1])}\n\nand:\n{new_text(some[2])}\n"
    assert all(map(same_game, parse_records(text), some))


def test_a_first_tile_that_looks_like_a_separator_is_a_tile():
    """A first tile that is encoded as the optional colon is recognised.

    The two start tiles alone are ambiguous, but only one reading fits the turns of the game.
    """
    seed = next(n for n in range(999) if old_digits(played("classic", n, 0))[0] == ":")
    game = played("classic", seed, 100)
    assert same_game(one("replay" + old_digits(game)), game)
    place = len("replay" + old_digits(game))
    with pytest.raises(RecordError, match=rf"character {place}: '\\x07' is not a digit"):
        one("replay" + old_digits(game)[:-1] + "\x07")


def test_a_text_written_by_hand():
    """In the old format, ' ' is up with a 2 on cell (0, 0), and 'k' is down with a 2 on (3, 2)."""
    record = one("replay" + " " + "!" + "k")
    assert record.start == Board.parse("2 . . . / 2 . . . / . . . . / . . . .")
    assert [(b, s) for b, _, s in record.replay()] == [
        (Board.parse(". . . . / . . . . / . . . . / 4 . 2 ."), 4)
    ]


@pytest.mark.parametrize(
    ("time", "millis"), [(0, 0), (5 << 3, 5), (2 << 3 | 1, 262), (1 << 3 | 3, 4144), (2047, 0)]
)
def test_thinking_times_are_kept(time, millis):
    """Thinking times combine resolution and multiplier; the largest value means a closed page."""
    assert one(new_text(played("classic", 1, 3), time)).times == (millis,) * 3
    assert one(old_text(played("classic", 1, 3))).times == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("hello", "no game found"),
        (b"", "no game found"),
        pytest.param(b"\0" * 1300, "no game found", id="zeros"),
        pytest.param(rpl(played("classic", 1, 0)), "not UTF-8 text", id="an end alone"),
        ("replay".encode("utf-16"), "not UTF-8 text: see byte 1"),
        ("replay", "start tiles"),
        ("replay !\x07", r"line 1, character 9: .* not a digit of the old format"),
        ("4x4-_000", "start tiles"),
        (
            "4x4-_0000",
            r"character 9: the replay is cut off: a turn has 3 digits, but the last one has 1",
        ),
        ("1x1-_000000", "1x1"),
        ("4x4-_00000g00" + NEW[113], r"ply 1 .*cell \(0, 7\) is outside"),
        (
            "4x4-_00000g031",
            r"line 1, character 12: ply 1 \(down\): .* occupied; empty cells are \(0, 0\)",
        ),
        ("4x4-_00000g000", r"ply 1 \(up\): the move changes nothing; only down"),
        ("4x4-_000001", "start tile cannot stand"),
        ("replay  @", "start tile"),
        (
            "\n\n4x4-_00000g\n\u263a00",
            "line 4, character 1: '\u263a' is not a digit of the new format",
        ),
        pytest.param(f"{HUGE}x4-a_abcdefghi", "no game found", id="huge"),
        ("999999999x4-a_abcdefghi", "rows must be 1 to 64"),
    ],
)
def test_what_is_not_a_game_is_refused(data, reason):
    """Each rejection is one line with the location and what was expected there."""
    with pytest.raises(RecordError, match=reason) as caught:
        parse_records(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("write", [old_text, new_text])
@settings(max_examples=15)
@given(st.data())
def test_a_damaged_replay_is_never_shortened(write, data):
    """A replay with one changed character is rejected, or is a different complete game."""
    game = played("classic", 2, 60)
    text = write(game)
    place = data.draw(st.integers(len(text) - 50, len(text) - 1))
    letter = data.draw(st.sampled_from("x'\"> é\u263a.<"))
    try:
        (record,) = parse_records(text[:place] + letter + text[place + 1 :])
    except RecordError:
        return
    assert record.plies == len(game.turns)


def test_a_damaged_binary_replay_names_the_ply():
    """A board that the move does not produce is rejected with its ply, as is a wrong direction."""
    for code in (0, 5):
        data = bytearray(vrs(played("classic", 1, 3)))
        data[2 * 13 - 1] = code
        with pytest.raises(RecordError, match=f"position 2: {code} is not a direction"):
            parse_records(bytes(data))
    data = bytearray(rpl(played("classic", 1, 30)))
    data[25 * 7] ^= 0x11
    with pytest.raises(RecordError, match=r"ply [78] \("):
        parse_records(bytes(data))


def test_importing_a_record_is_strict(tmp_path, monkeypatch):
    """Importing a py2048 record is as strict as loading it."""
    record = played("classic", 1, 5).record()
    path = tmp_path / "x"
    record.save(path)
    assert load_record(path) == record
    with path.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert load_record(STDIN) == record
        with pytest.raises(RecordError, match=r"^standard input: no game found"):
            load_record(STDIN)
    path.write_text(record.to_json().replace("turns", "turn"))
    with pytest.raises(RecordError, match="x: the record was changed"):
        load_record(path)
    path.write_bytes(record.to_json().encode("utf-8-sig"))
    with pytest.raises(RecordError, match="not a record"):
        load_record(path)


def test_a_file_of_several_games_is_not_one(tmp_path):
    """A file with several games is rejected where one is needed, with the command to split it."""
    path = tmp_path / "two.txt"
    path.write_text("\n".join(new_text(played("classic", seed, 9)) for seed in (1, 2)))
    assert len(load_records(path)) == 2
    with pytest.raises(RecordError, match=r"two.txt has 2 games: py2048 import .* FOLDER"):
        load_record(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_only_regular_files_can_be_opened(tmp_path, monkeypatch):
    """Pipes and devices are refused, and ``-`` is a file name rather than standard input."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    refused = "it exists and is not a regular file"
    for name, why in (("pipe", refused), ("/dev/zero", refused), ("-", "No such file")):
        with pytest.raises(RecordError, match=f"cannot read .*{why}"):
            load_record_file(Path(name))
