"""Races on every screen: the rival's board beside the game, splits, and who is ahead."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.ui.terminal.playing import shown, until

from py2048 import Game, Record, get_rules, make_player
from py2048.cli import main
from py2048.errors import Py2048Error
from py2048.session import RecordedRival, Session, open_session
from py2048.ui.shared.race import Mark, Race, Split, find_rival
from py2048.ui.terminal import plain_text
from py2048.ui.terminal.app import GameApp


def record(moves: int = 230) -> Record:
    """A game of 0.4 s a move."""
    game, player = Game(get_rules("classic"), seed=7, player="Ada"), make_player("corner")
    while game.ply < moves and not game.is_over:
        game.play(player.choose(game))
    return replace(game.record(), times=(400,) * game.ply)


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_same_game_is_level_at_every_split() -> None:
    """Split by split the same moves and scores; only the time differs, by construction."""
    game, clock, session = record(), Clock(), Session()
    session.race(RecordedRival(game))
    assert session.rival
    race = Race(session, session.rival, clock)
    passed = []
    for direction, _ in game.steps:
        clock.now += 0.3
        session.move(direction)
        if split := race.moved():
            passed.append(split)
        view = race.view
        assert (view.board, view.score, view.lead) == (session.game.board, session.game.score, 0)
    assert [split.label for split in passed if split.ply] == ["move 100", "move 200"]
    tiles = [split.tile for split in passed if split.tile]
    assert tiles == sorted(tiles)
    assert tiles[0] == 16
    hundred = next(split for split in passed if split.ply == 100)
    assert hundred.ahead == "+0, +10 s"
    assert str(hundred).startswith("move 100, 0:30 ")
    assert view.standing == "Level"


def test_a_race_goes_on_where_it_was_left() -> None:
    """The splits that were passed before are there, with the person's time until then."""
    game, session = record(), open_session()
    session.race(RecordedRival(game))
    for direction, _ in list(game.steps)[:150]:
        session.move(direction)
    times = session.record().times
    session.close()
    again = open_session()
    assert again.resume()
    assert again.rival
    race = Race(again, again.rival)
    hundred = next(split for split in race.view.splits if split.ply == 100)
    assert hundred.mine == Mark(100, hundred.theirs.score, sum(times[:100]))
    again.move(list(game.steps)[150][0])
    assert race.moved() is None
    assert race.view.lead == 0
    again.close()


def test_undone_moves_undo_their_splits_and_keep_their_time() -> None:
    """The clock of a race does not run back."""
    game, clock, session = record(), Clock(), Session()
    session.race(RecordedRival(game))
    assert session.rival
    race = Race(session, session.rival, clock)
    for direction, _ in list(game.steps)[:100]:
        clock.now += 1
        session.move(direction)
        race.moved()
    assert any(split.ply == 100 and split.mine for split in race.view.splits)
    session.undo()
    race.undone()
    assert not any(split.ply == 100 and split.mine for split in race.view.splits)
    session.redo()
    clock.now += 1
    split = race.moved()
    assert split
    assert split.mine
    assert split.mine.elapsed_ms == 101_000


def test_a_split_says_who_was_ahead() -> None:
    """In moves for a tile, in points for a number of moves, in seconds where both have times."""
    mine, theirs = Mark(40, 500, 61_000), Mark(42, 480, 59_000)
    assert Split(64, 0, mine, theirs).ahead == "+2 moves, -2 s"
    assert Split(0, 100, mine, theirs).ahead == "+20, -2 s"
    assert Split(64, 0, mine, theirs._replace(ply=41, elapsed_ms=None)).ahead == "+1 move"
    assert Split(64, 0, mine, None).ahead == ""
    assert str(Split(64, 0, mine, theirs)) == (
        "64 at move 40, 1:01 500: +2 moves, -2 s against 0:59 480"
    )


def test_a_rival_is_found_or_refused(tmp_path: Path) -> None:
    """By name, or as a file; with one line otherwise."""
    session, rules = Session(), get_rules("classic")
    path = tmp_path / "game"
    record().save(path)
    assert find_rival(session, str(path), rules).name == "Ada"
    expert = find_rival(session, "expert", rules, "greedy")
    assert (expert.name, expert.rules) == ("greedy", rules)
    expert.close()
    with pytest.raises(Py2048Error, match="'nobody' is neither best, expert nor a file"):
        find_rival(session, "nobody", rules)


@pytest.mark.parametrize("size", [(120, 40), (60, 34)])
async def test_a_race_in_the_terminal(size: tuple[int, int]) -> None:
    """Beside the game or below it; the next game has none."""
    session = Session()
    session.race(RecordedRival(record(), "your best game"))
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "your best game" in shown(app))
        await pilot.press("left")
        await until(pilot, lambda: "after 1 move" in shown(app))
        assert app.view.size.width == (size[0] - 38 if size[0] > 80 else size[0])
        assert app.view.grid is not None
        session.start()
        await until(pilot, lambda: "your best game" not in shown(app))
        assert app.view.size.width == size[0]


async def test_a_race_begins_from_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key opens the list; a file may be named there."""
    monkeypatch.chdir(tmp_path)
    record(30).save("game")
    session = Session()
    session.start(seed=1)
    app = GameApp(session, reduced_motion=True)
    async with app.run_test(size=(100, 36)) as pilot:
        await pilot.press("o")
        await until(pilot, lambda: "the expert" in shown(app))
        await pilot.press("tab", *"gam", "enter")
        await until(pilot, lambda: "is neither" in shown(app))
        await pilot.press("e", "enter")
        await until(pilot, lambda: session.rival is not None)
        assert session.game.board == record().start


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
@pytest.mark.parametrize(("name", "reason"), [("-", "is neither"), ("pipe", "no ordinary file")])
async def test_the_list_of_rivals_waits_for_nothing(
    name: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for a pipe nor for the standard input, which the screen reads itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    os.mkfifo("pipe")
    app = GameApp(Session(), reduced_motion=True)
    async with app.run_test(size=(100, 36)) as pilot:
        await pilot.press("o", "tab", *name, "enter")
        await until(pilot, lambda: reason in shown(app))


def test_a_race_in_lines() -> None:
    """Splits are told, and who is ahead when asked."""
    session, out = Session(), io.StringIO()
    session.race(RecordedRival(record(), "Ada"))
    steps = [str(direction) for direction, _ in record().steps][:100]
    plain_text.run(session, io.StringIO("\n".join([*steps, "race"])), out)
    lines = out.getvalue().splitlines()
    assert "A race against Ada. Type race for who is ahead." in lines
    assert any(line.startswith("16 at move ") for line in lines)
    assert any(line.startswith("move 100, ") for line in lines)
    assert any(line.startswith("Ada: ") and line.endswith(" moves. Level.") for line in lines)
    assert lines[-1].startswith("Row 4: ")


def test_the_command_refuses_before_a_screen_opens(capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, with status 2."""
    assert main(["race"]) == 2
    assert "no game of yours under the rules classic" in capsys.readouterr().err
    assert main(["race", "nobody"]) == 2
    assert "neither best, expert nor a file" in capsys.readouterr().err
    assert main(["race", "expert", "--player", "exppert"]) == 2
    assert "exppert" in capsys.readouterr().err
