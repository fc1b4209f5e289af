"""Games on a server, without a server: fairness, numbers, following other processes, the end."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from math import log2
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py2048 import Board, Direction, Game, Record, get_rules, list_rules, make_player
from py2048.errors import RecordError
from py2048.game.turn import Spawn
from py2048.server import table as table_module
from py2048.server.bounds import (
    LARGEST_SIDE,
    LARGEST_TARGET,
    LARGEST_TILE,
    MOST_POINTS,
    checked_rules,
)
from py2048.server.fairness import check_fair, commitment_of, draws_of
from py2048.server.house import House, open_house
from py2048.server.table import MOST_ACTIONS, RefusedError, Table
from py2048.server.writer import Writer, Written
from py2048.session import Moved, Undone
from py2048.storage import open_store

secrets = st.binary(min_size=32, max_size=32).map(bytes.hex)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = open_house(str(tmp_path / "house.sqlite3"))
    yield house
    house.store.close()


def played(secret: str, rules: str, moves: int) -> Game:
    game = Game(get_rules(rules), draws=draws_of(secret))
    for turn in range(moves):
        legal = game.legal_directions()
        if not legal:
            break
        game.play(legal[turn % len(legal)])
    return game


def write(house: House, table: Table) -> set[str]:
    return house.store.write_changes([table.take()])


@given(secrets, st.sampled_from([rules.name for rules in list_rules()]), st.integers(0, 60))
def test_a_fair_game_proves_itself(secret: str, rules: str, moves: int) -> None:
    """Whatever is played, the record agrees with its secret and its commitment."""
    record = played(secret, rules, moves).record()
    check_fair(record, secret, commitment_of(secret))
    assert record.seed is None


@given(secrets, secrets)
def test_another_secret_is_noticed(secret: str, other: str) -> None:
    """A secret that was not committed to, or that draws other tiles, is refused."""
    record = played(secret, "classic", 20).record()
    if secret != other:
        with pytest.raises(RecordError):
            check_fair(record, other)
        with pytest.raises(RecordError, match="commitment"):
            check_fair(record, secret, commitment_of(other))


@given(secrets, st.integers(0, 19))
def test_one_chosen_tile_is_noticed(secret: str, place: int) -> None:
    """A single spawn that the secret did not draw breaks the proof, at its ply."""
    fair = played(secret, "classic", 20)
    forged = Game(fair.rules, board=fair.start)
    for turn in fair.turns[:place]:
        forged.play(turn.direction, spawn=turn.spawn)
    turn = fair.turns[place]
    assert turn.spawn is not None
    other = Spawn(6 - turn.spawn.tile, turn.spawn.cell)
    forged.play(turn.direction, spawn=other)
    with pytest.raises(RecordError, match=f"turn {place + 1}:"):
        check_fair(forged.record(), secret)


def test_draws_are_as_documented() -> None:
    """Draw `counter` is the first 8 bytes of HMAC-SHA256(secret, counter), big-endian."""
    import hashlib
    import hmac

    secret, board = "00" * 31 + "2a", Board.parse("2 . / . 4")
    for counter in (0, 1, 2**63, 2**63 + 5):
        digest = hmac.digest(bytes.fromhex(secret), counter.to_bytes(8), hashlib.sha256)
        assert draws_of(secret)(counter, board) == int.from_bytes(digest[:8])


def test_actions_are_numbered(house: House) -> None:
    """The next number is done, an earlier one is not done again, a later one is refused."""
    table = house.deal("ada", "classic", "ranked")
    direction = table.session.game.legal_directions()[0]
    action = table.move(1, direction)
    assert action.version == 1
    assert isinstance(action.events[0], Moved)
    board = table.session.game.board
    assert table.move(1, direction).events == ()
    assert table.session.game.board is board
    with pytest.raises(RefusedError) as refused:
        table.move(3, direction)
    assert refused.value.reason == "gap"


def test_a_table_comes_back_as_it_was_left(house: House) -> None:
    """From the store come board, score, version, undone turns and the same draws."""
    table = house.deal("ada", "classic", "casual")
    for number in range(1, 11):
        table.move(number, table.session.game.legal_directions()[0])
    table.undo(11)
    assert write(house, table) == set()
    again = house.seat(table.id)
    assert again.version == table.version == 11
    assert again.session.game.board == table.session.game.board
    direction = again.session.game.legal_directions()[-1]
    again.move(12, direction)
    table.move(12, direction)
    assert again.session.game.board == table.session.game.board


def test_following_another_process_by_turns(house: House) -> None:
    """Turns that were added elsewhere come as events to animate."""
    here = house.deal("ada", "classic", "ranked")
    there = house.seat(here.id)
    for number in (1, 2, 3):
        there.move(number, there.session.game.legal_directions()[0])
    write(house, there)
    saved = house.saved_game(here.id)
    assert saved is not None
    events = here.catch_up(saved)
    assert events is not None
    assert [type(event) for event in events] == [Moved] * 3
    assert here.session.game.board == there.session.game.board
    assert here.version == 3
    assert not here.ledger.is_dirty
    assert here.catch_up(saved) == ()


def test_following_an_undo_lays_the_game_anew(house: House) -> None:
    """What is no plain addition is not animated: the table is as the store has it."""
    here = house.deal("ada", "classic", "casual")
    there = house.seat(here.id)
    there.move(1, there.session.game.legal_directions()[0])
    undone = there.undo(2)
    assert isinstance(undone.events[0], Undone)
    write(house, there)
    saved = house.saved_game(here.id)
    assert saved is not None
    assert here.catch_up(saved) is None
    assert (here.version, here.session.game.turn_count) == (2, 0)
    assert here.session.can_redo


def test_whoever_is_late_is_told(house: House) -> None:
    """Of two tables with the same game only the first to write keeps its move."""
    here = house.deal("ada", "long:size=5x5", "ranked")
    there = house.seat(here.id)
    here.move(1, here.session.game.legal_directions()[0])
    there.move(1, there.session.game.legal_directions()[-1])
    assert write(house, here) == set()
    assert write(house, there) == {here.id}


def finish(house: House, mode: str, *, undo: bool = False) -> Table:
    table = house.deal("ada", "2x4", mode)
    if undo:
        table.move(1, table.session.game.legal_directions()[0])
        table.undo(2)
    while not table.is_over:
        legal = table.session.game.legal_directions()
        table.move(table.version + 1, legal[table.version % len(legal)])
    write(house, table)
    return table


@pytest.mark.parametrize(
    ("mode", "undo", "board"),
    [("ranked", False, "ranked"), ("casual", False, "assisted"), ("casual", True, "assisted")],
)
def test_a_finished_game_counts_where_it_belongs(
    house: House, mode: str, undo: bool, board: str
) -> None:
    """It is verified and becomes a record on its board; a second time there is nothing to do."""
    table = finish(house, mode, undo=undo)
    assert house.finish(table.id) == board
    assert house.finish(table.id) is None
    found = house.record(table.id)
    assert found is not None
    summary, record = found
    assert (summary.category, summary.score) == (board, table.session.game.score)
    check_fair(record, table.round.secret, table.commitment)
    again = house.seat(table.id)
    assert again.is_over
    assert again.secret == table.round.secret


def test_a_forged_game_does_not_count(house: House) -> None:
    """A spawn that was changed in the store fails the verification; no record is made."""
    table = finish(house, "ranked")
    saved = house.saved_game(table.id)
    assert saved is not None
    code = saved.turns[3]
    forged = code[0] + ("2" if code[1] == "1" else "1") + code[2]
    with open_store(house.store.name) as store:
        import sqlite3

        with sqlite3.connect(house.store.name) as connection:
            connection.execute(
                "UPDATE turns SET code = ? WHERE game_id = ? AND ply = 3", (forged, table.id)
            )
        assert store.load_game(table.id).turns[3] == forged
    with pytest.raises(Exception, match=r"tile|cannot be read back"):
        house.finish(table.id)
    assert house.record(table.id) is None


def test_games_left_behind_are_finished(house: House) -> None:
    """A process that ended between the last move and the record leaves it to the next."""
    from datetime import timedelta

    table = finish(house, "ranked")
    assert house.finish_left_behind(timedelta(hours=1)) == []
    assert house.record(table.id) is None
    assert house.finish_left_behind(timedelta(0)) == []
    assert house.record(table.id) is not None


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("", "name"),
        ("nonsense", "nonsense"),
        ("x" * 500, "at most 400 characters"),
        ("a:size=0x0", "1 to 64"),
        ("a:spawn=3:1", "3 is not a tile"),
        ("a:b=c", "b=c"),
        ("big:size=17x2", "size=17x2.*at most 16"),
        ("a:spawn=2097152:1", "2097152.*at most 1048576"),
        ("a:start=1x1152921504606846976:1", "1152921504606846976.*at most 1048576"),
        ("a:start=1x2:1,spawn=edge:2097152", "2097152.*at most 1048576"),
        ("a:target=2199023255552", "target=2199023255552.*at most 1099511627776"),
        ("a:scoring=moves:1000001:-1", "moves:1000001:-1.*at most 1000000"),
        ("a:scoring=moves:1:-1000001", "moves:1:-1000001.*at most 1000000"),
        ("a:spawn=2:1e999999999", "1e999999999"),
        ("a\0b:size=2x2", r"'a\\x00b'.*visible"),
        ("\ud800:size=2x2", r"'\\ud800'.*visible"),
        ("\u202eadmin:size=2x2", r"'\\u202eadmin'.*visible"),
        ("x" * 41 + ":size=2x2", "at most 40 visible"),
    ],
)
def test_rules_of_strangers_are_checked(house: House, rules: str, said: str) -> None:
    """What makes no game here is refused, with the value and the fix in a line."""
    with pytest.raises(RefusedError, match=said) as refused:
        house.deal("ada", rules, "casual")
    assert refused.value.reason == "rules"
    assert str(refused.value).isprintable()


@given(
    st.sampled_from([2, 2**10, LARGEST_TILE]),
    st.sampled_from([2, 2**10, LARGEST_TILE]),
    st.sampled_from(["merges", "sum", f"moves:{MOST_POINTS}:{-MOST_POINTS}"]),
    st.sampled_from(["once", "cascade"]),
    st.randoms(use_true_random=False),
)
@settings(max_examples=20)
def test_no_accepted_rules_can_outgrow_the_store(
    start: int, spawn: int, scoring: str, merging: str, chance: random.Random
) -> None:
    """Points stay within what the tiles' sum allows; for the longest game that is below 2**53."""
    text = f"a:start=1..4x{start}:1,spawn={spawn}:1,scoring={scoring},merging={merging},target=none"
    game = Game(checked_rules(text), seed=chance.randrange(2**32))
    while (legal := game.legal_directions()) and game.turn_count < 200:
        game.play(chance.choice(legal))
    tiles = (game.turn_count + 4) * LARGEST_TILE
    assert game.board.sum <= tiles
    assert abs(game.score) <= max(tiles * log2(tiles), MOST_POINTS * game.turn_count)
    longest = (MOST_ACTIONS + LARGEST_SIDE**2) * LARGEST_TILE
    assert max(longest * log2(longest), MOST_POINTS * MOST_ACTIONS) < 2**53
    assert longest < LARGEST_TARGET


def test_a_game_has_an_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the last action that a game may have, moves and computer players are refused."""
    monkeypatch.setattr(table_module, "MOST_ACTIONS", 3)
    table = house.deal("ada", "classic", "casual")
    for number in (1, 2, 3):
        table.move(number, table.session.game.legal_directions()[0])
    hint = table.session.snapshot().choose(make_player("random"))
    for act in (lambda: table.move(4, Direction.LEFT), lambda: table.undo(4)):
        with pytest.raises(RefusedError, match="3 actions"):
            act()
    with pytest.raises(RefusedError, match="3 actions"):
        table.play_hint(hint)
    assert table.version == 3


def test_the_writer_writes_in_order_and_all(house: House) -> None:
    """Each change is answered once, after it is in the store, also those that wait at the end."""
    tables = [house.deal(f"player {n}", "long:size=5x5", "ranked") for n in range(10)]
    heard: list[Written] = []
    writer = Writer(house.store, heard.extend)
    for table in tables:
        table.move(1, table.session.game.legal_directions()[0])
        writer.submit(table.take())
    writer.close()
    assert sorted(each.change.id for each in heard) == sorted(table.id for table in tables)
    assert all(each.error is None and not each.is_stale for each in heard)
    assert all(house.store.load_game(table.id).revision == 1 for table in tables)


def test_the_writer_tells_of_failures(house: House) -> None:
    """A store that cannot be written fails the change, and the thread lives on."""
    table = house.deal("ada", "classic", "ranked")
    heard: list[Written] = []
    writer = Writer(house.store, heard.extend)
    table.move(1, table.session.game.legal_directions()[0])
    house.store.close()
    change = table.take()
    writer.submit(change)
    writer.submit(replace(change, id="other"))
    writer.close()
    assert len(heard) == 2
    assert all(each.error is not None for each in heard)


def test_a_record_read_back_is_the_same(house: House) -> None:
    """What the server gives away as a file is byte for byte the record."""
    table = finish(house, "ranked")
    house.finish(table.id)
    text = house.record_text(table.id)
    assert text is not None
    assert Record.from_json(text).to_json() == text
    assert Direction.parse(Record.from_json(text).turns[0]) in Direction
