"""Laws of the controller, which hold in the terminal and the window alike."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.app.controller.fake_screen import controlled
from tests.app.controller.reviewing import MOVES, ended_record, known_record, workers
from tests.core.game.foreign_games import new_text, played

from py2048.app.controller.coach import COACH_SETTING
from py2048.app.controller.controller import SPEEDS
from py2048.app.session import Session, autosave, open_session
from py2048.core.direction import Direction
from py2048.core.errors import StorageError
from py2048.core.game import Game, Record
from py2048.core.rules import COURSE_PRESETS, get_rules, list_boards
from py2048.engine.jit.progress import Compiling

NEARLY_WON = "1024 1024 2 4\n2 4 8 16\n. . . .\n. . . ."
NEARLY_OVER = "2 2 16 8/4 8 16 32/8 16 32 64/16 32 64 128"


def play(controller: Any, moves: int = 1) -> None:
    """Make legal moves."""
    for _ in range(moves):
        controller.do(str(controller.session.game.legal_directions()[0]))


class SlowPlayer:
    """Answers when the test allows it."""

    name = "slow"

    def __init__(self) -> None:
        self.may_answer, self.asked = threading.Event(), threading.Event()

    def choose(self, game: Game) -> Direction:
        self.asked.set()
        assert self.may_answer.wait(30)
        return game.legal_directions()[0]

    def rate(self, game: Game) -> dict[Direction, float]:
        return dict.fromkeys(game.legal_directions(), 1.0)


class BrokenPlayer(SlowPlayer):
    """Raises an error."""

    def choose(self, game: Game) -> Direction:
        raise RuntimeError("the wheels came off")


def slow(session: Session, monkeypatch: pytest.MonkeyPatch) -> SlowPlayer:
    """Replace all players by a slow one."""
    player = SlowPlayer()
    monkeypatch.setattr(session, "get_player", lambda _: player)
    return player


# Games


def test_undo_and_redo_go_to_both_ends():
    """A message says when there is nothing to undo or redo; undo makes a game assisted."""
    controller, screen = controlled()
    start = screen.board
    play(controller, 3)
    end = screen.board
    assert screen.status.facts == ["3 moves"]
    for _ in range(4):
        controller.do("undo")
    assert (screen.board, screen.said) == (start, "There is nothing to undo.")
    for _ in range(4):
        controller.do("redo")
    assert (screen.board, screen.said) == (end, "There is nothing to redo.")
    assert screen.status.facts == ["assisted", "3 moves"]


def test_a_beginner_is_taught_for_three_moves():
    """The tutorial line disappears after three moves."""
    controller, screen = controlled()
    for count in range(4):
        assert bool(screen.status.teaching) == (count < 3)
        play(controller)


def test_the_courses_rules_are_a_list_of_their_own():
    """The list of boards leads to the courses' rules, and to them at once during such a game."""
    controller, screen = controlled()
    controller.do("rules")
    open_courses = dict(screen.list.more)["Courses …"]
    open_courses()
    assert [each.value for each in screen.list.choices] == list(COURSE_PRESETS)
    screen.list.take("comp1127")
    assert controller.session.rules == get_rules("comp1127")


def test_new_asks_while_a_game_is_in_progress():
    """A new game needs confirmation once a move was made."""
    controller, screen = controlled()
    controller.do("new")
    assert not screen.question
    play(controller)
    board = screen.board
    controller.do("new")
    assert (screen.question, screen.board) == ("Start a new game?", board)
    screen.agree()
    assert controller.session.game.ply == 0


def test_leaving_a_game_that_cannot_be_kept_asks():
    """Leaving a game needs confirmation if it cannot be saved."""
    controller, screen = controlled()
    play(controller)
    controller.do("rules")
    assert screen.list.current == "classic"
    assert [each.value for each in screen.list.choices] == [each.name for each in list_boards()]
    assert "did you mean 'classic'" in screen.list.check("clasic")
    screen.list.take("classic:size=5x6")
    assert "It cannot be saved" in screen.question
    assert controller.session.rules.name == "classic"
    screen.agree()
    assert screen.board.shape == (5, 6)


def test_games_in_progress_can_be_taken_up(kept):
    """Games in progress are listed with their size and resume unchanged, also by their rules."""
    controller, screen = controlled(kept)
    controller.do("games")
    assert screen.said == "There are no games in progress."
    play(controller, 5)
    board = screen.board
    for rules in (get_rules("classic", rows=5, columns=5), get_rules("3x3")):
        controller.game.play_by(rules)
        play(controller, 2)
    controller.do("games")
    titles = {choice.title: choice.value for choice in screen.list.choices}
    assert {re.sub(r"\W", "x", title) for title in titles} == {"Classicx4x4", "Classicx5x5", "3x3"}
    screen.list.take(titles["Classic 4\N{MULTIPLICATION SIGN}4"])
    assert screen.board == board
    screen.list.take("gone")
    assert screen.said == "This game has already ended."
    controller.game.play_by(get_rules("3x3"))
    controller.game.play_by(get_rules("classic"))
    assert (screen.board, screen.question) == (board, "")


def test_a_screen_opens_on_the_game_that_there_is(data_folder):
    """A screen opens on the session's game, or else the last unfinished one."""
    controller, screen = controlled(open_session())
    play(controller, 3)
    board = screen.board
    controller.session.close()
    session = open_session()
    _, screen = controlled(session)
    assert (screen.board, screen.status.moves) == (board, 3)
    assert screen.said.startswith("Game resumed")
    _, screen = controlled(session)
    assert screen.board == board
    session.close()
    _, screen = controlled(board="2 4 2\n4 2 4", rules="classic:size=2x3")
    assert (screen.banner.title, screen.banner.is_final) == ("Game over", True)


def test_a_store_that_cannot_be_read_starts_a_game(monkeypatch):
    """If the store cannot be read, a warning is shown and a new game starts."""
    session = Session()

    def fail() -> None:
        raise StorageError("the store is damaged")

    monkeypatch.setattr(session, "resume", fail)
    controller, screen = controlled(session)
    assert screen.warnings == ["the store is damaged"]
    assert screen.status.moves == controller.session.game.ply == 0


def test_play_continues_after_the_target():
    """The win overlay stays until the next move; computer wins show none."""
    controller, screen = controlled(board=NEARLY_WON)
    controller.do("left")
    assert (screen.banner.title, screen.banner.is_final) == ("You made 2048", False)
    assert screen.gains == [2048]
    controller.do("down")
    assert (screen.banner, controller.session.game.ply) == (None, 2)
    controller, screen = controlled(board=NEARLY_WON)
    controller.presenter.show(controller.session.autoplay_step("greedy"))
    assert (screen.banner, screen.said) == (None, "2048 reached.")
    assert screen.status.facts == ["played by the computer", "1 move"]


def test_the_end_covers_the_board_and_undo_uncovers_it():
    """The game-over overlay shows the score, blocks moves and hints, and disappears on undo."""
    controller, screen = controlled(board=NEARLY_OVER)
    while not controller.session.game.is_over:
        play(controller)
    assert screen.banner.title == "Game over"
    assert screen.banner.score == controller.session.game.score
    for name in ("left", "hint", "autoplay"):
        controller.do(name)
        assert screen.said.startswith("The game is over: ")
    controller.do("undo")
    assert screen.banner is None


def test_a_board_or_a_game_can_be_pasted(kept):
    """A pasted board is played and a pasted replay continued; other text is rejected."""
    controller, screen = controlled(kept, player="corner")
    assert controller.players.playing
    game = played("classic", 5, 20)
    controller.game.paste(f"my replay:\n{new_text(game)}")
    assert (screen.board, controller.players.playing) == (game.board, "")
    controller.game.paste(f"{new_text(game)}\n" * 2)
    controller.game.paste("hello")
    assert "the text contains 2 games" in screen.warnings[0]
    assert "neither a board nor a game" in screen.warnings[1]
    controller.game.paste("2 2 4 / . . 8")
    screen.agree()
    assert (screen.board.shape, controller.session.category) == ((2, 3), "assisted")
    controller.close()


# Records


def test_a_record_is_saved_and_opened(kept, tmp_path):
    """A saved record verifies and can be continued with undo; errors are shown."""
    controller, screen = controlled(kept)
    play(controller, 12)
    board, screen.file = screen.board, tmp_path / "game.2048.json"
    controller.do("save")
    assert screen.said == f"Saved as {screen.file}."
    Record.load(screen.file).verify()
    controller.presenter.show(kept.start())
    controller.do("open")
    assert screen.board == board
    assert screen.status.can_undo
    screen.file.write_text("{}")
    controller.do("open")
    screen.file = tmp_path / "missing" / "game.2048.json"
    controller.do("save")
    assert len(screen.warnings) == 2
    assert "cannot write" in screen.warnings[1]
    assert screen.board == board


def test_a_file_is_not_replaced_unasked(tmp_path):
    """A file is only replaced after confirmation; an invalid name is reported."""
    controller, screen = controlled()
    path, wrote = tmp_path / "game.2048.json", list[str]()
    controller.game.replace_file(path, lambda: wrote.append("new"))
    path.touch()
    controller.game.replace_file(path, lambda: wrote.append("again"))
    assert (wrote, screen.question) == (["new"], f"Replace {path}?")
    screen.agree()
    assert wrote == ["new", "again"]
    for name, told in (("a\0b", "embedded null"), ("n" * 300, "too long")):
        save = partial(controller.session.save_record, name)
        controller.game.replace_file(Path(name), save)
        assert told in screen.warnings.pop()


def test_finished_games_can_be_chosen(kept):
    """The current game is listed first, then finished games, then files."""
    kept.start(get_rules("2x4"), seed=1)
    controller, screen = controlled(kept)
    found: list[Record] = []
    controller.game.choose("Which?", found.append)
    assert [choice.title for choice in screen.list.choices] == ["This game"]
    kept.move(kept.game.legal_directions()[0])
    while not kept.game.is_over:
        kept.move(kept.game.legal_directions()[0])
    kept.flush()
    kept.start(get_rules("classic"), seed=2)
    controller.game.choose("Which?", found.append)
    for choice in screen.list.choices:
        screen.list.take(choice.value)
    assert [record.rules.name for record in found] == ["classic", "2x4"]


# Saving


def test_what_is_not_saved_is_shown_until_it_is(data_folder, monkeypatch):
    """While another program locks the store, play continues and quitting needs confirmation."""
    monkeypatch.setattr(autosave, "WRITE_WAIT_S", 0.05)
    monkeypatch.setattr(autosave, "CLOSE_TIMEOUT_S", 0.2)
    session = open_session()
    session.start(seed=1)
    controller, screen = controlled(session)
    play(controller, 2)
    store = data_folder / "py2048.sqlite3"
    with closing(sqlite3.connect(store, isolation_level=None)) as rival:
        rival.execute("BEGIN IMMEDIATE")
        play(controller, 3)
        screen.until(lambda: "locked by another program" in screen.unsaved)
        controller.do("quit")
        assert "Quit anyway?" in screen.question
        assert not screen.is_closed
    screen.until(lambda: not screen.unsaved)
    controller.do("quit")
    assert screen.is_closed
    session.close()


# Players


def test_a_hint_is_shown_for_its_position_only(monkeypatch):
    """A thinking player blocks nothing, and a stale hint is ignored."""
    controller, screen = controlled()
    player = slow(controller.session, monkeypatch)
    controller.players.set_player("slow")
    controller.do("hint")
    controller.do("faster")  # used below
    assert player.asked.wait(30)
    assert screen.status.note == "slow is thinking …"
    play(controller, 2)
    player.may_answer.set()
    screen.until(lambda: not controller.is_waiting)
    assert (screen.hint, screen.status.note) == (None, "")
    controller.do("hint")
    screen.until(lambda: screen.hint)
    assert " is best." in screen.said
    controller.close()


def test_a_quick_player_answers_for_one_that_is_being_compiled(monkeypatch):
    """A quick hint is shown and marked, then the player's own; the player is asked once."""
    controller, screen = controlled()
    is_compiled = threading.Event()

    def compile_first(snapshot: Any, player: Any, level: Any) -> Iterator[Any]:
        hint = snapshot.ask(player)
        yield replace(hint, instead_of="greedy")
        yield Compiling()
        assert is_compiled.wait(30)
        yield hint

    monkeypatch.setattr("py2048.app.controller.controller.advise", compile_first)
    controller.players.set_player("greedy")
    controller.do("hint")
    screen.until(lambda: screen.hint)
    assert screen.hint.instead_of == "greedy"
    screen.until(lambda: "getting ready" in screen.status.note)
    is_compiled.set()
    screen.until(lambda: not screen.hint.instead_of)
    assert controller.session.record().hints == 1
    assert screen.status.note == ""
    controller.close()


@pytest.mark.parametrize("name", ["hint", "autoplay"])
def test_a_player_that_fails_is_reported(name, monkeypatch):
    """A failing player's error is shown, autoplay stops, and the game continues."""
    controller, screen = controlled()
    monkeypatch.setattr(controller.session, "get_player", lambda _: BrokenPlayer())
    controller.do(name)
    screen.until(lambda: screen.warnings == ["the wheels came off"])
    assert (controller.players.playing, screen.status.note) == ("", "")
    play(controller)
    controller.close()


def test_autoplay_plays_until_a_move_or_the_end(monkeypatch):
    """The speed is shown and limited, and pending moves are dropped when autoplay stops."""
    controller, screen = controlled(rules="2x4", player="random:seed=3")
    assert controller.players.playing == "random:seed=3"
    for name, speed in (("faster", 8), ("slower", 4), ("slower", 2), ("slower", 1), ("slower", 1)):
        controller.do(name)
        assert screen.status.note == f"random:seed=3: {speed} a second"
    screen.until(lambda: controller.session.game.ply > 1)
    play(controller)
    assert (controller.players.playing, screen.status.note) == ("", "")
    ply = controller.session.game.ply
    for _ in range(50):
        screen.wait()
    assert controller.session.game.ply == ply
    controller.players.set_speed(len(SPEEDS))
    assert screen.said == "It plays as fast as it can."
    controller.do("autoplay")
    screen.until(lambda: controller.session.game.is_over)
    assert not controller.players.playing
    controller.close()


def test_the_player_is_chosen_and_remembered():
    """An unknown player is rejected with the closest match."""
    controller, screen = controlled()
    controller.do("player")
    assert "did you mean 'greedy'" in screen.list.check("gredy")
    screen.list.take("greedy")
    assert controller.players.player == controller.session.get_setting("player") == "greedy"


def test_closing_ends_the_threads(monkeypatch):
    """Threads end after the current player call, whose result is ignored."""
    before = set(workers())
    controller, screen = controlled()
    player = slow(controller.session, monkeypatch)
    controller.do("autoplay")
    assert player.asked.wait(30)
    controller.close()
    controller.session.undo()  # the session stays usable
    player.may_answer.set()
    for thread in set(workers()) - before:
        thread.join(30)
        assert not thread.is_alive()
    screen.wait()
    assert (controller.session.game.ply, screen.warnings) == (0, [])


# Looks


def test_looks_are_remembered(kept):
    """The theme, the animation setting and the switch for milestones are saved."""
    controller, screen = controlled(kept)
    controller.do("theme")
    controller.do("animation")
    assert screen.said == "Animation is off."
    again, _ = controlled(kept)
    assert not again.presenter.is_animated
    assert screen.status.race == ()
    controller.do("milestones")
    assert [label for label, _value in screen.status.race] == ["Time", "512", "1,024", "2,048"]
    assert controlled(kept)[0].presenter.is_racing
    assert kept.get_setting("theme") == screen.theme.name


# Reviews, practice and the coach


@pytest.mark.usefixtures("known_judge")
def test_a_look_at_the_game_in_progress_counts_as_a_hint():
    """Reviewing the game in progress counts as a hint; reviewing a file does not."""
    controller, screen = controlled()
    play(controller, 2)
    controller.reviews.open(known_record())
    assert controller.session.category == "plain"
    controller.do("review")
    screen.list.take("current")
    screen.until(lambda: screen.review.review)
    assert (controller.session.category, controller.session.record().hints) == ("assisted", 1)
    controller.close()


@pytest.mark.usefixtures("known_judge")
def test_mistakes_of_your_finished_game_are_practised(kept):
    """Mistakes enter the notebook once, when the review ends, and practice starts with them."""
    kept.start_from(replace(ended_record(), player=""))
    controller, screen = controlled(kept)
    for told in ("3 new in your notebook", ""):
        controller.do("review")
        screen.until(lambda: screen.review.review)
        assert told in screen.review.summary
        assert ("notebook" in screen.review.summary) == bool(told)
    controller.do("practice")
    assert screen.list.choices[0].detail == "3 due, 3 kept"
    screen.list.take("mistakes")
    screen.until(lambda: screen.practice)
    assert "Mistake 1 of 3" in screen.practice.title
    controller.close()


@pytest.mark.usefixtures("known_judge")
def test_playing_on_from_a_review_starts_a_game_of_its_own():
    """Playing on starts a new assisted game from the position, under the record's rules."""
    controller, screen = controlled()
    controller.reviews.open(known_record())
    screen.until(lambda: screen.review.review)
    screen.review.go("next_mistake")
    screen.leave("play_on")
    assert (screen.board, screen.status.score) == (screen.review.board, 0)
    assert controller.session.rules == known_record().rules
    assert controller.session.category == "assisted"
    controller.close()


def test_a_review_that_is_closed_judges_no_more(slow_judge):
    """Moves appear as they are judged; after closing, results are ignored."""
    controller, screen = controlled()
    controller.reviews.open(known_record())
    screen.until(lambda: f"2 of {MOVES} moves judged" in screen.review.summary)
    screen.review.close()
    assert not controller.is_waiting
    slow_judge.set()
    for _ in range(20):
        screen.wait()
    assert len(screen.review.moves) == 2
    controller.close()


@pytest.mark.usefixtures("known_judge")
def test_the_coach_is_switched_and_remembered(kept):
    """The coach's setting is saved, and its comments make the game assisted."""
    controller, screen = controlled(kept)
    assert screen.coach is None
    controller.do("coach")
    assert screen.coach.facts == ("The coach judges your moves",)
    play(controller)
    screen.until(lambda: "accuracy 100 %" in screen.coach.facts)
    assert screen.status.facts[0] == "assisted"
    again, other = controlled(kept)
    assert again.coach.is_on
    again.do("coach")
    assert (other.coach, kept.get_setting(COACH_SETTING)) == (None, False)
    for each in (controller, again):
        each.close()


def test_play_never_waits_for_the_coach(slow_judge):
    """Moves continue while the coach judges; it then comments on the latest position."""
    controller, screen = controlled()
    controller.do("coach")
    play(controller, 8)
    assert "judging" in " ".join(screen.coach.facts)
    slow_judge.set()
    screen.until(lambda: not controller.is_waiting)
    assert controller.coach.last_move.ply == controller.session.game.ply
    controller.close()


@pytest.mark.usefixtures("known_judge")
def test_the_coach_pauses_while_a_player_plays():
    """Moves of autoplay are not judged."""
    controller, screen = controlled()
    controller.players.set_player("corner")
    controller.do("coach")
    controller.do("autoplay")
    assert "pauses while the computer plays" in " ".join(screen.coach.facts)
    screen.until(lambda: controller.session.game.ply > 2)
    controller.do("autoplay")
    assert screen.coach.facts == ("The coach judges your moves",)
    controller.close()
