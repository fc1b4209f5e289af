"""Online games without a server: fairness, numbering, changes by other processes, records."""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import log2
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import record_of

from py2048 import Direction, Game, make_player
from py2048.app.session.session import is_by_computer
from py2048.app.storage import Account, GameChange
from py2048.app.storage.schema import turns
from py2048.core.errors import RecordError, StorageError
from py2048.core.fairness import check_fair
from py2048.core.rules import MAX_POINTS
from py2048.engine.jit.progress import Compiling
from py2048.presentation.events import Event, Moved, Undone
from py2048.server.play import games as games_module
from py2048.server.play.changes import GroupCommit
from py2048.server.play.games import (
    MAX_ACTIONS,
    MAX_SIDE,
    MAX_TARGET,
    MAX_TILE,
    GameService,
    OnlineGame,
    checked_rules,
    guest_name,
    is_known,
)
from py2048.server.play.messages import (
    compiling_message,
    game_row,
    rejection,
    rules_info,
    unsaved,
)
from py2048.server.schema import UNSET, ActionRejected, CompilingMessage, RejectedMessage


def write(games: GameService, game: OnlineGame) -> set[str]:
    return games.store.changes.write([game.tracked.take_change()])


def test_actions_are_numbered(games: GameService) -> None:
    """The next number is played, an earlier one is ignored and a later one is rejected."""
    game = games.begin_game("ada", "classic", "ranked")
    direction = game.session.game.legal_directions()[0]
    events = game.move(1, direction)
    assert game.version == 1
    assert isinstance(events[0], Moved)
    board = game.session.game.board
    assert game.move(1, direction) == ()
    assert game.session.game.board is board
    with pytest.raises(ActionRejected) as refused:
        game.move(3, direction)
    assert refused.value.reason == "gap"


def test_a_table_comes_back_as_it_was_left(games: GameService) -> None:
    """Loading restores board, score, version, undone turns and future draws."""
    game = games.begin_game("ada", "classic", "casual")
    for number in range(1, 11):
        game.move(number, game.session.game.legal_directions()[0])
    game.undo(11)
    assert write(games, game) == set()
    found = games.find(game.id)
    assert found is not None
    assert game_row(found).board == "assisted"
    again = games.load(game.id)
    assert again.version == game.version == 11
    assert again.session.game.board == game.session.game.board
    direction = again.session.game.legal_directions()[-1]
    again.move(12, direction)
    game.move(12, direction)
    assert again.session.game.board == game.session.game.board


def test_following_another_process(games: GameService) -> None:
    """Turns added by another process become events; after an undo the game must be reloaded."""
    here = games.begin_game("ada", "classic", "casual")
    there = games.load(here.id)
    for number in (1, 2, 3):
        there.move(number, there.session.game.legal_directions()[0])
    write(games, there)

    def follow() -> tuple[Event, ...] | None:
        change = games.store.games.change_since(here.id, here.version, len(here.tracked.codes))
        assert change is not None
        return here.apply(change)

    events = follow()
    assert events is not None
    assert [type(event) for event in events] == [Moved] * 3
    assert here.session.game.board == there.session.game.board
    assert here.version == 3
    assert not here.tracked.is_changed
    assert isinstance(there.undo(4)[0], Undone)
    write(games, there)
    assert follow() is None
    assert here.version == 3
    here.move(4, here.session.game.legal_directions()[0])
    there.redo(5)
    write(games, there)
    assert follow() is None, "a turn of this process is not saved yet"


def finish(games: GameService, mode: str, *, undo: bool = False) -> OnlineGame:
    game = games.begin_game("ada", "2x4", mode)
    if undo:
        game.move(1, game.session.game.legal_directions()[0])
        game.undo(2)
    while not game.is_over:
        legal = game.session.game.legal_directions()
        game.move(game.version + 1, legal[game.version % len(legal)])
    write(games, game)
    return game


@pytest.mark.parametrize(
    ("mode", "undo", "board"),
    [("ranked", False, "ranked"), ("casual", False, "plain"), ("casual", True, "assisted")],
)
def test_a_finished_game_counts_where_it_belongs(
    games: GameService, mode: str, undo: bool, board: str
) -> None:
    """A game that is drawn here gets the record that its verification gives, once."""
    game = finish(games, mode, undo=undo)
    saved = games.store.games.find(game.id)
    assert saved is not None
    verified = games_module.replayed(saved, game.info).record()
    assert games.finish(game.id, game.drawn()) == board
    assert games.finish(game.id) is None
    summary, record = record_of(games, game.id) or (None, None)
    assert record
    assert replace(record, finished=verified.finished) == verified
    assert (summary.category, summary.score) == (board, game.session.game.score)
    check_fair(record, game.info.secret, game.commitment)
    assert record.to_json() == games.record_text(game.id)
    again = games.load(game.id)
    assert (again.is_over, again.secret, again.drawn()) == (True, game.info.secret, None)
    assert again.category == game.category


def test_the_record_tells_when_the_game_began(games: GameService) -> None:
    """The record has the time when the game began, not when it was replayed."""
    game = finish(games, "ranked")
    saved = games.store.games.find(game.id)
    assert saved is not None
    began = "2024-01-02T03:04:05Z"
    counted = games_module.replayed(replace(saved, started=began), game.info)
    assert counted.record().started == began


def test_the_record_of_a_computers_game_says_so(games: GameService) -> None:
    """The record of an autoplayed game names the player's spec, and each move was one action."""
    game = games.begin_game("ada", "2x4", "casual")
    game.move(1, game.session.game.legal_directions()[0])
    game.undo(2)
    while not game.is_over:
        game.play_hint(game.session.snapshot().ask(make_player("greedy"), only_move=True))
        write(games, game)
        assert games.load(game.id).session.game.player == "greedy"
    assert games.finish(game.id) == "computer"
    again, (_, record) = games.load(game.id), record_of(games, game.id) or (None, None)
    assert record
    assert (record.player, is_by_computer(record)) == ("greedy", True)
    assert again.session.game.player == "greedy"
    assert again.version == game.version == 2 + game.session.game.turn_count


def test_a_game_with_a_record_stays_as_it_is(games: GameService) -> None:
    """The end can be undone until it is closed; after that the game cannot change."""
    game = finish(games, "casual")
    games.finish(game.id)
    assert games.load(game.id).can_undo
    games.store.online.close_ended("2999")
    again = games.load(game.id)
    assert (again.can_undo, again.can_redo) == (False, False)
    for refused in (again.undo, again.redo, again.check_offline):
        with pytest.raises(ActionRejected, match="over") as refusal:
            refused(again.version + 1)
        assert refusal.value.reason == "over"


def test_a_forged_game_does_not_count(games: GameService) -> None:
    """A tile changed in the store fails the verification, and no record is created."""
    game = finish(games, "ranked")
    code = game.tracked.codes[3]
    forged = code[0] + ("2" if code[1] == "1" else "1") + code[2]
    with games.store.write() as connection:
        turn = sa.update(turns).where(turns.c.game_id == game.id, turns.c.ply == 3)
        connection.execute(turn.values(code=forged))
    with pytest.raises(RecordError, match=r"tile|cannot be read"):
        games.finish(game.id)
    assert record_of(games, game.id) is None


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE games SET rules = 'classic:merging=thrice'", "write once or cascade$"),
        ("UPDATE games SET start = '3'", "3 is not a tile"),
        ("UPDATE games SET score = score + 4", r"give \d+ points, not a game over with \d+$"),
        ("UPDATE turns SET code = '' WHERE ply = 3", "^a tile differs from the secret's draw$"),
    ],
)
def test_an_unfinishable_game_stops_no_other(games: GameService, damage: str, said: str) -> None:
    """A game that cannot be finished is reported once and does not block the others."""
    bad = finish(games, "ranked")
    with games.store.write() as connection:
        connection.exec_driver_sql(damage)
    good = finish(games, "ranked")
    assert games.finalize_orphans().keys() == {bad.id}
    assert games.finalize_orphans() == {}
    with pytest.raises(RecordError, match=said):
        games.finish(bad.id)
    assert record_of(games, bad.id) is None
    assert record_of(games, good.id) is not None


@pytest.mark.parametrize(
    ("error", "is_tried_again"),
    [(StorageError("full", "full"), True), (StorageError("odd"), False), (KeyError(), False)],
)
def test_only_trouble_of_the_store_is_tried_again(
    games: GameService, monkeypatch: pytest.MonkeyPatch, error: Exception, is_tried_again: bool
) -> None:
    """A game is reported with its error, or the type of an error without a text."""
    game = finish(games, "ranked")
    monkeypatch.setattr(games, "finish", Mock(side_effect=error))
    assert games.finalize_orphans() == {game.id: str(error) or "KeyError()"}
    assert (games.finalize_orphans() != {}) == is_tried_again


def test_a_battle_is_played_between_its_start_and_end(
    games: GameService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its start is included and its end is not; who leaves ends it at its start."""
    monkeypatch.setattr(games_module, "utc_now", lambda: "5")
    game = games.begin_game("ada", "classic", "casual")
    (legal, *_), number = game.session.game.legal_directions(), 1
    for window, reason in (
        (("6", "9"), "early: the battle has not started: wait for the countdown"),
        (("1", "5"), "over: time is up: the battle is over"),
        (("5", "5"), "over: you have left this battle: your score stands"),
    ):
        game.window = window
        with pytest.raises(ActionRejected) as refused:
            game.move(number, legal)
        assert f"{refused.value.reason}: {refused.value}" == reason
        assert game.is_over == (window[1] == "5")
    game.window = "5", "6"
    assert (game.is_over, len(game.move(number, legal)), game.version) == (False, 1, 1)


def test_a_programs_first_move_and_ignored_moves_take_no_time(games: GameService) -> None:
    """Only moves that are made add to the thinking time."""
    game = games.begin_game("ada", "classic", "casual")
    game.info = replace(game.info, mode="bot")
    for number, arrived, total in ((1, 9.0, 0), (2, 0.25, 250), (2, 0.5, 250), (3, 0.5, 750)):
        game.clock.since = 0.0
        game.move(number, game.session.game.legal_directions()[0], arrived)
        assert game.think_ms == total
    illegal = set(Direction) - set(game.session.game.legal_directions())
    for direction in illegal:
        game.move(4, direction, 9.0)
    write(games, game)
    assert (game.version, game.think_ms, games.load(game.id).think_ms) == (3, 750, 750)


def test_only_a_game_that_is_over_is_finished(games: GameService) -> None:
    """Others are stopped on request, and unknown games are ignored."""
    game = games.begin_game("ada", "classic", "ranked")
    game.move(1, game.session.game.legal_directions()[0])
    write(games, game)
    assert games.finish("0" * 16) is games.finish(game.id) is None
    assert games.finish(game.id, is_stopped=True) == "ranked"
    summary, _ = record_of(games, game.id) or (None, None)
    assert summary
    assert (summary.outcome, summary.plies, summary.think_ms) == ("ended", 1, None)
    undone = finish(games, "casual")
    drawn = undone.drawn()
    undone.undo(undone.version + 1)
    write(games, undone)
    assert games.finish(undone.id, drawn) is None


def test_rules_may_reach_their_limits(games: GameService, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name, the size, the tiles, the target and the text have maximums."""
    most = f"{'x' * 40}:size=16x2,spawn={MAX_TILE}:1,target={MAX_TARGET}"
    full = str(checked_rules(most))
    monkeypatch.setattr(games_module, "MAX_RULES_TEXT", len(full))
    assert str(checked_rules(full)) == full
    monkeypatch.setattr(games_module, "MAX_RULES_TEXT", len(full) - 1)
    with pytest.raises(ActionRejected, match=f"too long: at most {len(full) - 1} characters"):
        checked_rules(full)
    with pytest.raises(
        ActionRejected, match=f"in full are too long here: use at .* {len(full) - 1}"
    ):
        checked_rules(most)


def test_a_guest_is_known_by_neither_name_nor_age() -> None:
    """An account is known from the day after it was created; a guest never is."""
    now = datetime.now(UTC).date()
    days = [(now - timedelta(days=days)).isoformat() for days in (0, 1)]
    known = [is_known(Account("a", name, None, 0, day)) for name in ("Ada", None) for day in days]
    assert known == [False, True, False, False]
    assert guest_name("abcdef") == "guest ABCD"


STRANGE = [
    *tomllib.loads(Path(__file__).with_name("strange_rules.toml").read_text())["rejected"],
    ("", "name"),
    ("x" * 500, "at most 400 characters"),
    ("x" * 41 + ":size=2x2", "long.*most 40"),
    ("\ud800:size=2x2", r"'\\ud800'.*visible"),
]


@pytest.mark.parametrize(("rules", "said"), STRANGE)
def test_rules_of_strangers_are_checked(games: GameService, rules: str, said: str) -> None:
    """Invalid rules are rejected with the value and a remedy in one line."""
    with pytest.raises(ActionRejected, match=said) as refused:
        games.begin_game("ada", rules, "casual")
    assert refused.value.reason == "rules"
    assert str(refused.value).isprintable()


@given(
    st.sampled_from([2, 2**10, MAX_TILE]),
    st.sampled_from([2, 2**10, MAX_TILE]),
    st.sampled_from(["merges", "sum", f"moves:{MAX_POINTS}:{-MAX_POINTS}"]),
    st.sampled_from(["once", "cascade"]),
    st.randoms(use_true_random=False),
)
@settings(max_examples=20)
def test_no_accepted_rules_can_outgrow_the_store(
    start: int, spawn: int, scoring: str, merging: str, chance: random.Random
) -> None:
    """The score of the longest possible game stays below 2**53."""
    text = f"a:start=1..4x{start}:1,spawn={spawn}:1,scoring={scoring},merging={merging},target=none"
    game = Game(checked_rules(text), seed=chance.randrange(2**32))
    while (legal := game.legal_directions()) and game.turn_count < 200:
        game.play(chance.choice(legal))
    tiles = (game.turn_count + 4) * MAX_TILE
    assert game.board.sum <= tiles
    assert abs(game.score) <= max(tiles * log2(tiles), MAX_POINTS * game.turn_count)
    longest = (MAX_ACTIONS + MAX_SIDE**2) * MAX_TILE
    assert max(longest * log2(longest), MAX_POINTS * MAX_ACTIONS) < 2**53
    assert longest < MAX_TARGET


@pytest.mark.parametrize("rules", ["x:target=2,end=target", "x:target=4,end=target,start=1x4:1"])
def test_rules_under_which_no_move_can_be_made_are_refused(games: GameService, rules: str) -> None:
    """Rules without a first move are rejected, because such a game could never end."""
    with pytest.raises(ActionRejected, match="over at its start"):
        games.begin_game("ada", rules, "casual")


def test_only_too_many_games_cost_one_without_a_move(
    games: GameService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new game discards an old game without moves only if the account has too many games."""
    monkeypatch.setattr(games_module, "MAX_OPEN_GAMES", 4)

    def begin() -> str:
        return games.begin_game("ada", "classic", "casual").id

    moved = games.begin_game("ada", "classic", "casual")
    moved.move(1, moved.session.game.legal_directions()[0])
    write(games, moved)
    left, next_one, last = begin(), begin(), begin()
    with pytest.raises(ActionRejected, match="4 games in progress"):
        begin()
    monkeypatch.setattr(games_module, "DISCARDABLE", timedelta(0))
    assert {game.id for game in games.store.online.open_games("ada")} >= {left, next_one, last}
    for gone in (left, next_one):
        begun = begin()
        kept = {game.id for game in games.store.online.open_games("ada")}
        assert len(kept) == 4
        assert kept >= {moved.id, last, begun}
        assert gone not in kept


def test_only_games_played_lately_are_live(
    games: GameService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A player's page lists games in progress that had a move in the last minutes."""
    games.begin_game("ada", "classic", "casual")
    game = games.begin_game("ada", "classic", "casual")
    game.move(1, game.session.game.legal_directions()[0])
    write(games, game)
    assert [each.id for each in games.live_games_of("ada")] == [game.id]
    monkeypatch.setattr(games_module, "LIVE", timedelta(0))
    assert games.live_games_of("ada") == []


def test_lost_guests_are_deleted_once_a_day(
    games: GameService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server looks again only if some are left, or on the next day."""
    forget = Mock(side_effect=[True, False, False])
    monkeypatch.setattr(games.store.accounts, "forget_guests", forget)
    for day, count in (("2026-12-01", 1), ("2026-12-01", 2), ("2026-12-01", 2), ("2026-12-02", 3)):
        monkeypatch.setattr(games_module, "utc_now", lambda day=day: f"{day}T10:00:00Z")
        games.sweep(())
        assert forget.call_count == count


def test_a_game_has_an_end(games: GameService, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the maximum number of actions, moves by people and computers are rejected."""
    monkeypatch.setattr(games_module, "MAX_ACTIONS", 3)
    game = games.begin_game("ada", "classic", "casual")
    for number in (1, 2, 3):
        game.move(number, game.session.game.legal_directions()[0])
    hint = game.session.snapshot().ask(make_player("random"), only_move=True)
    for act in (lambda: game.move(4, Direction.LEFT), lambda: game.undo(4)):
        with pytest.raises(ActionRejected, match="3 actions"):
            act()
    with pytest.raises(ActionRejected, match="3 actions"):
        game.play_hint(hint)
    assert (game.version, game.move(3, Direction.LEFT)) == (3, ())
    with pytest.raises(ActionRejected, match="action 5 comes before action 4"):
        game.move(5, Direction.LEFT)


def test_a_hint_that_is_prepared_has_its_progress() -> None:
    """The share is rounded to two decimals."""
    message = compiling_message(SimpleNamespace(id="g"), "p", Compiling(1, 3, 1 / 3))
    assert message == CompilingMessage("g", "p", 0.33, "The hint is getting ready, 33 %")


@pytest.mark.parametrize(("kind", "reason"), [("full", "storage"), ("", "unsaved")])
def test_an_unsaved_move_is_tried_again_after_two_seconds(kind: str, reason: str) -> None:
    """Other rejections have no time to wait. The message does not show the store's path."""
    known = "The server's disk is full", "The server cannot save or read this at the moment"
    text = f"{known[not kind]}: the last move could not be saved and was undone."
    refused = unsaved(StorageError("/var/games", kind))
    assert rejection(refused, "move", None, 7) == RejectedMessage(
        reason, text, "move", None, 2000, 7
    )
    refused.wait_s = 0
    assert rejection(refused, "", None) == RejectedMessage(reason, text, "", None, UNSET, UNSET)


async def test_the_writer_writes_in_order_and_all(games: GameService) -> None:
    """Each change is acknowledged once after it is saved, including those waiting at shutdown."""
    online = [games.begin_game(f"player {n}", "long:size=5x5", "ranked") for n in range(10)]
    heard: list[GameChange] = []
    answers: list[StorageError | None] = []
    writer = GroupCommit(games.store, heard.extend)
    for game in online:
        game.move(1, game.session.game.legal_directions()[0])
        writer.submit(game.tracked.take_change(), answers.append)
    await writer.close()
    assert [each.id for each in heard] == [game.id for game in online]
    assert answers == [None] * 10
    assert all(games.store.games.find(game.id).revision == 1 for game in online)


@pytest.mark.parametrize(
    ("fault", "tried", "answers"),
    [
        (
            ValueError(),
            "abcde ab cde c de d e",
            [None, "another process", None, "ValueError", None],
        ),
        (StorageError("full", "full"), "abcde", ["full"] * 5),
    ],
)
async def test_only_the_change_at_fault_fails(
    fault: Exception, tried: str, answers: list[str | None]
) -> None:
    """A batch is halved until the fault is alone, unless the store itself has failed."""
    batches, heard, found = [], [], []

    def tell(error: StorageError | None) -> None:
        found.append(error and str(error).split(" changed")[0].removesuffix("()"))

    def written(batch: list[GameChange]) -> set[str]:
        batches.append("".join(change.id for change in batch))
        if "d" in batches[-1]:
            raise fault
        return {"b"}

    store = SimpleNamespace(changes=SimpleNamespace(write=written))
    writer = GroupCommit(store, lambda batch: heard.append("".join(each.id for each in batch)))
    for name in "abcde":
        writer.submit(SimpleNamespace(id=name), tell)
    assert writer.backlog == 5
    await writer.close()
    assert (" ".join(batches), found, writer.backlog) == (tried, answers, 0)
    assert heard == ["".join(name for name, each in zip("abcde", answers, strict=True) if not each)]
    with pytest.raises(StorageError, match="the server is shutting down"):
        writer.submit(SimpleNamespace(id="f"), tell)


async def test_the_writer_tells_of_failures(games: GameService) -> None:
    """A failed write is reported, and the thread continues."""
    game = games.begin_game("ada", "classic", "ranked")
    answers: list[StorageError | None] = []
    writer = GroupCommit(games.store, list)
    game.move(1, game.session.game.legal_directions()[0])
    games.store.close()
    change = game.tracked.take_change()
    writer.submit(change, answers.append)
    writer.submit(replace(change, id="other"), answers.append)
    await writer.close()
    assert [type(error) for error in answers] == [StorageError] * 2


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("classic:size=16x16", "classic"), ("5x5", "5x5"), ("Classic:size=4x4", "Classic"),
        ("classic:size=16x16,start=256x1024:1", "own"), ("CLASSIC:spawn=1024:1", "own"),
        ("mine:spawn=1024:1", "mine"),
    ],
)  # fmt: skip
def test_names_of_presets_are_kept_for_presets(text: str, name: str) -> None:
    """Custom rules cannot claim the name of a preset."""
    assert checked_rules(text).name == name


@pytest.mark.parametrize(
    ("text", "name", "summary"),
    [
        ("classic", "classic", "4 x 4 · reach 2048, play on · tiles 2, 4"),
        ("classic:size=3x5,target=512,end=target", "classic", "3 x 5 · reach 512 · tiles 2, 4"),
        ("classic:size=3x5", "classic 3x5", "3 x 5 · reach 2048, play on · tiles 2, 4"),
        ("own:merging=cascade,target=none", "own", "4 x 4 · tiles 2, 4 · merges cascade"),
    ],
)
def test_rules_are_described_in_one_line(text: str, name: str, summary: str) -> None:
    """The line names size, target, tiles and unusual merging; a resized preset names its size."""
    info = rules_info(text)
    shown = f"{info.name}|{info.summary}".replace("\N{MULTIPLICATION SIGN}", "x")
    assert shown == f"{name}|{summary}"
