"""Games from outside become verified records, whatever happened to them on the way."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.game.foreign_games import (
    GAME3X3B,
    NEW,
    NI4FIRM,
    NI4FIRM_WITH_BREAK,
    episode,
    new_digits,
    new_text,
    old_digits,
    old_text,
    played,
    positions,
    rpl,
    vrs,
)
from tests.strategies import games

from py2048 import Board, Game, Record, get_rules
from py2048.errors import RecordError
from py2048.game.importing import load_record, load_records, parse_records

HUGE = "9" * 5000
"""More digits than Python reads as a number."""

classic = st.just(get_rules("classic"))


def same_game(record: Record, game: Game) -> bool:
    """Whether a record has the start, the turns and the score of a game."""
    record.verify()
    wanted = game.record()
    return (record.start, record.turns, record.score) == (wanted.start, wanted.turns, game.score)


def one(data: bytes | str) -> Record:
    (record,) = parse_records(data)
    return record


# Round trips


@settings(max_examples=15)
@given(games(classic))
def test_every_format_gives_the_game(game: Game) -> None:
    """Every turn of a classic game arrives, with its spawn, and the score is reproduced."""
    assert same_game(one(old_text(game)), game)
    assert same_game(one(new_text(game)), game)
    assert same_game(one(episode(game)), game)
    assert same_game(one(positions(game)), game)
    if game.turns:
        assert same_game(one(rpl(game)), game)
        assert same_game(one(vrs(game)), game)
    if len(game.turns) > 4:  # else a cell may be counted from either end
        assert same_game(one(rpl(game, from_first=True)), game)


@pytest.mark.parametrize("name", ["classic", "3x3", "3x4", "2x4"])
def test_whole_games_of_every_size(name: str) -> None:
    """Sizes are rows x columns and become the presets of that size."""
    game = played(name, 3, 500)
    for data in (old_text(game), new_text(game), positions(game), rpl(game), vrs(game)):
        record = one(data)
        assert same_game(record, game)
        assert record.rules == game.rules


# What happens to a text on its way; each keeps every character, so each can be undone.
JOURNEYS: dict[str, Callable[[str], bytes | str]] = {
    "as it is": str,
    "bytes": str.encode,
    "a byte order mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "big UTF-16 without a mark": lambda text: text.encode("utf-16-be"),
    "UTF-32": lambda text: text.encode("utf-32"),
    "UTF-32 without a mark": lambda text: text.encode("utf-32-le"),
    "big UTF-32 without a mark": lambda text: text.encode("utf-32-be"),
    "code page 850": lambda text: text.encode("cp850", "ignore"),
    "GB 18030": lambda text: text.encode("gb18030"),
    "Windows": lambda text: text.encode("cp1252"),
    "UTF-8 read as Windows": lambda text: text.encode().decode("latin-1"),
    "UTF-8 read as code page 437": lambda text: text.encode().decode("cp437"),
    "UTF-8 read as code page 850": lambda text: text.encode().decode("cp850"),
    "Windows read as code page 850": lambda text: text.encode("cp1252").decode("cp850"),
    "in an address": quote,
    "in an address, as Latin-1": lambda text: quote(text, encoding="cp1252"),
    "on a page": html.escape,
    "on a page, in a paragraph": lambda text: f"<p>{html.escape(text)}</p>",
    "on a page, without accents": lambda text: (
        html.escape(text).encode("ascii", "xmlcharrefreplace").decode()
    ),
    "in JSON": lambda text: json.dumps({"id": 7, "replay": text, "won": True}),
    "in JSON as UTF-8": lambda text: json.dumps([text], ensure_ascii=False),
    "in quotation marks": lambda text: f'My best: "{text}" - beat it!',
    "in curly ones": lambda text: f"“{text}”, said he.",
    "in backticks": lambda text: f"Look: `{text}`.",
    "between paragraphs": lambda text: f"Here is my replay.\n\n{text}\n\nGood game!\n",
    "under a line, over a line": lambda text: f"My replay:\n{text}\nWhat do you think of it?\n",
    "in lines": lambda text: "\n".join(text[k : k + 60] for k in range(0, len(text), 60)),
    "in lines of a PC": lambda text: (
        "\r\n".join(text[k : k + 72] for k in range(0, len(text), 72)) + "\r\n"
    ),
    "in an answered mail": lambda text: "\n".join(
        "> " + text[k : k + 60] for k in range(0, len(text), 60)
    ),
    "in a block of code": lambda text: f"```\n{text}\n```\n",
    "with invisible characters": lambda text: "\u200b" + text[:30] + "\u200b" + text[30:],
}


@pytest.mark.parametrize(
    ("write", "journey"),
    [
        *((write, journey) for write in (old_text, new_text) for journey in JOURNEYS),
        *((write, "in JSON") for write in (episode, positions)),
        *((write, "UTF-16") for write in (episode, positions)),
    ],
)
def test_a_game_arrives(write: Callable[[Game], str], journey: str) -> None:
    """Encodings, escapes and the text around a replay are undone."""
    game = played("classic", 5, 60)
    assert same_game(one(JOURNEYS[journey](write(game))), game)


short_games = st.builds(played, st.just("classic"), st.integers(0, 2**32), st.integers(9, 40))


@settings(max_examples=20)
@given(short_games, st.sampled_from([old_text, new_text]), st.sampled_from([*JOURNEYS]))
def test_any_game_arrives(game: Game, write: Callable[[Game], str], journey: str) -> None:
    """The same for other games, short ones too."""
    text = write(game)
    assume(text == text.strip())
    assert same_game(one(JOURNEYS[journey](text)), game)


def test_the_end_of_a_paragraph_is_no_part_of_a_replay() -> None:
    """Even where its characters are digits, and would make legal moves."""
    text = "replay*.fbhb``hhlmilfdn\u00ebi``"
    assert one(f"<p>{text}</p>") == one(text)
    assert one(f"{text}</p>") != one(text)


@settings(max_examples=20)
@given(short_games, st.sampled_from([old_digits, new_digits]))
def test_a_replay_needs_no_head(game: Game, write: Callable[[Game], str]) -> None:
    """The digits alone are a 4x4 game if they replay as one."""
    assert same_game(one(write(game)), game)


@pytest.mark.parametrize("name", ["3x3", "3x4", "2x4"])
def test_the_size_of_a_replay_without_a_head_is_found(name: str) -> None:
    """On a board of another size the turns break the rules."""
    game = played(name, 4, 200)
    assert one(new_digits(game)).rules == game.rules


def test_several_replays_in_one_text() -> None:
    """In either form, a line each or between words."""
    some = [played("classic", seed, 50) for seed in range(4)]
    text = (
        f"1. {new_text(some[0])}\n2. {old_text(some[1])}\n\nand:\n{new_text(some[2])}"
        f"\n{old_text(some[3])}\n"
    )
    assert [one.turns for one in parse_records(text)] == [game.record().turns for game in some]
    two = episode(some[0]) + episode(some[1])
    assert len(parse_records(two)) == 2


def test_a_first_tile_that_looks_like_a_separator_is_a_tile() -> None:
    """A 4 on the third cell of the third row is written as the colon that may follow the word.

    Two tiles alone could mean either; the turns of a game fit one of both readings.
    """
    seed = next(n for n in range(999) if old_digits(played("classic", n, 0))[0] == ":")
    game = played("classic", seed, 100)
    assert same_game(one("replay" + old_digits(game)), game)


def test_a_text_written_by_hand() -> None:
    """' ' is all zeros: up, a 2, column 0, row 0; 'k' is 75: down, a 2, column 2, row 3."""
    record = one("replay" + " " + "!" + "k")
    assert record.start == Board.parse("2 . . . / 2 . . . / . . . . / . . . .")
    assert [(b, s) for b, _, s in record.replay()] == [
        (Board.parse(". . . . / . . . . / . . . . / 4 . 2 ."), 4)
    ]


@pytest.mark.parametrize(("time", "millis"), [(0, 0), (5 << 3, 5), (2 << 3 | 1, 262), (2047, 0)])
def test_thinking_times_are_kept(time: int, millis: int) -> None:
    """A resolution and a multiplier; the largest of both marks a closed page."""
    assert one(new_text(played("classic", 1, 3), time)).times == (millis,) * 3
    assert one(old_text(played("classic", 1, 3))).times == ()


# Games that others have published


def test_published_games() -> None:
    """The scores are those that their repository gives."""
    seeded, written = one(NI4FIRM), one(GAME3X3B)
    assert (seeded.score, seeded.plies, written.score, written.rules.shape) == (
        604,
        75,
        208,
        (3, 3),
    )
    assert not [*seeded.replay()][-1][0].can_move()
    with pytest.raises(RecordError, match="ply 105: a break"):
        parse_records(NI4FIRM_WITH_BREAK)


# What is refused


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "no game is found"),
        ("", "no game is found"),
        ("replay", "start tiles"),
        ("replay !\x07", r"line 1, character 9: .* no digit of the older form"),
        ("4x4-_000", "start tiles"),
        (
            "4x4-_0000",
            r"character 9: the replay is cut off: a turn has 3 digits, and the last one 1",
        ),
        ("1x1-_000000", "1x1"),
        ("4x4-_00000g00" + NEW[113], r"ply 1 .*cell \(0, 7\) is outside"),
        ("4x4-_00000g031", r"line 1, character 12: ply 1 \(down\): .* occupied; free are \(0, 0\)"),
        ("4x4-_00000g000", r"ply 1 \(up\): the move changes nothing; only down"),
        ("4x4-_000001", "start tile cannot stand"),
        (
            "\n\n4x4-_00000g\n\u263a00",
            "line 4, character 1: '\u263a' is no digit of the newer form",
        ),
        ("a:b@1|0111#U|b@2", "a tile is expected after #U"),
        ("a:b@1|0111#X31|b@2", "'#X3' is no action"),
        ("2x2S2.2.0.0+1,0.2;0:2.2.0.0+;f", r"ply 1 \(up\): the move changes nothing; only down"),
        ("2x2S2.2.0.0+1,0.2;3:8.2.0.0+;f", "another board"),
    ],
)
def test_damaged_games_are_refused(text: str, reason: str) -> None:
    """Each refusal is one line with the place, and what was expected there."""
    with pytest.raises(RecordError, match=reason) as caught:
        parse_records(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("write", [old_text, new_text])
@settings(max_examples=15)
@given(st.data())
def test_a_damaged_replay_is_never_shortened(
    write: Callable[[Game], str], data: st.DataObject
) -> None:
    """With a character changed the game is refused at or after it, or it is another whole game."""
    game = played("classic", 2, 60)
    text = write(game)
    place = data.draw(st.integers(len(text) - 50, len(text) - 1))
    letter = data.draw(st.sampled_from("x'\"> é\u263a.<"))
    damaged = text[:place] + letter + text[place + 1 :]
    try:
        records = parse_records(damaged)
    except RecordError:
        return
    plies = records[0].plies
    assert len(records) == 1
    assert plies == len(game.turns) or (letter in " '\">.<" and place >= len(text) - 3)


@pytest.mark.parametrize("place", [6, 9, 12, 100])
def test_a_damaged_replay_beside_a_sound_one_is_not_dropped(place: int) -> None:
    """Wherever it is damaged; words that look like a head are."""
    sound, other = (new_text(played("classic", seed, 60)) for seed in (1, 2))
    place += other.index("_")
    damaged = f"{other[:place]}\u263a{other[place + 1 :]}"
    with pytest.raises(RecordError, match=f"line 2, character {place + 1}: "):
        parse_records(f"{sound}\n{damaged}\n")
    words = "I replay 4x4-boards_all day, and this is my replay:"
    assert len(parse_records(f"{words}\n{sound}\n")) == 1


def test_two_start_tiles_on_one_cell_are_refused() -> None:
    """The second would overwrite the first."""
    with pytest.raises(RecordError, match="start tile"):
        parse_records("replay" + "  " + "@")


def test_a_damaged_binary_replay_names_the_ply() -> None:
    """A board that the move does not make."""
    data = bytearray(rpl(played("classic", 1, 30)))
    data[25 * 7] ^= 0x11
    with pytest.raises(RecordError, match=r"ply [78] \("):
        parse_records(bytes(data))


@pytest.mark.parametrize("count", [1, 2, 100])
def test_a_binary_file_of_zeros_is_no_game(count: int) -> None:
    """It has the length of a replay, and no position."""
    with pytest.raises(RecordError, match="no game is found"):
        parse_records(b"\0" * 13 * count)


@pytest.mark.parametrize(
    "text",
    [
        f"{HUGE}x4S0.2.0.2+1,0.2;3",
        f"{'.'.join([HUGE] * 16)}+1,0.2;3",
        f"2x2S2.2.0.0+1,0.2;3:{HUGE}.2.0.0+;f",
        f"::2:4:4:{HUGE}:GC8n",
        f"::2:{HUGE}:4:1:GC8n",
        f"replay:{HUGE}x4 abc",
        f"{HUGE}x4-a_abcdefghi",
        f"a:b@1|0111#D({HUGE})41|b@2",
    ],
    ids=["size", "tiles", "tile", "seed", "columns", "old size", "new size", "time"],
)
def test_a_number_of_any_length_is_refused(text: str) -> None:
    """A refusal in one line, not an error of Python's own numbers."""
    with pytest.raises(RecordError) as caught:
        parse_records(text)
    assert "\n" not in str(caught.value)


def test_a_time_that_no_calendar_has_is_left_out() -> None:
    """The game counts all the same."""
    (record,) = parse_records("a:b@99999999999999999999|0111#D41|b@2")
    assert record.started == ""
    assert record.plies == 1


@pytest.mark.parametrize(
    "text",
    [
        "7" * 300_000,
        "7." * 300_000,
        "4x4-a_" + "words of no game " * 30_000,
        "replay " + "words\nof\nno\ngame\n" * 30_000,
        f"::2:4:4:1:{'z' * 300_000}",
    ],
    ids=["digits", "tiles", "newer", "older", "number"],
)
def test_a_long_text_without_a_game_is_read_once(text: str) -> None:
    """Reading it again from each of its places would take minutes."""
    with pytest.raises(RecordError):
        parse_records(text)


def test_ours_stay_strict(tmp_path: Path) -> None:
    """A record of ours passes the same door, and must not differ by a byte."""
    record = played("classic", 1, 5).record()
    path = tmp_path / "x"
    record.save(path)
    assert load_record(path) == record
    path.write_text(record.to_json().replace("turns", "turn"))
    with pytest.raises(RecordError, match="x: the record was changed"):
        load_record(path)
    path.write_bytes(record.to_json().encode("utf-8-sig"))
    with pytest.raises(RecordError, match="no record"):
        load_record(path)


def test_a_file_of_several_games_is_not_one(tmp_path: Path) -> None:
    """What wants one game says how to take them apart."""
    path = tmp_path / "two.txt"
    path.write_text("\n".join(new_text(played("classic", seed, 9)) for seed in (1, 2)))
    assert len(load_records(path)) == 2
    with pytest.raises(RecordError, match=r"two.txt holds 2 games: py2048 import .* FOLDER"):
        load_record(path)
