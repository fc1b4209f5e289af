"""The plain text mode: commands and their answers."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import closing

import pytest
from tests.app.controller.reviewing import FAULTS, MOVES, known_record, known_review
from tests.app.terminal.playing import new_session

from py2048.app.session import Session, open_session
from py2048.app.terminal import plain_text
from py2048.core.game import Record

GREETING = "2048. Type help for the commands."


def said_to(session: Session, text: str, player: str | None = None) -> list[str]:
    """Return what the lines of `text` are answered with, after the greeting."""
    out = io.StringIO()
    assert plain_text.run(session, io.StringIO(text), out, player=player) == 0
    greeting, *answers = out.getvalue().splitlines()
    assert greeting == GREETING
    return answers


def transcript(
    text: str, *, board: str = "", rules: str = "classic", player: str | None = None
) -> list[str]:
    """Return the answers to the lines of `text`, after the greeting and the new game."""
    session = new_session(board, rules)
    started, *answers = said_to(session, text, player)
    assert started.startswith("New game, ")
    return answers


def test_a_short_game():
    """Each command is answered with one line that describes the move."""
    text = "left\nu\nundo\nredo\nundo\nu\nscore\nquit\nleft\n"
    assert said_to(new_session(), text) == [
        "New game, 4 by 4. A 2 at row 1, column 3. A 2 at row 3, column 3. Score 0.",
        "Left: nothing merged. A 2 at row 2, column 4. Score 0.",
        "Up: merged 2 and 2 into 4, plus 4. A 2 at row 2, column 1. Score 4.",
        "Undone: up. Score 0.",
        "Redone. Up: merged 2 and 2 into 4, plus 4. A 2 at row 2, column 1. Score 4.",
        "Undone: up. Score 0.",
        "Up: merged 2 and 2 into 4, plus 4. A 2 at row 2, column 1. Score 4.",
        "Score 4. Best 4. 2 moves.",
    ]


@pytest.mark.parametrize(
    ("direction", "words"),
    [
        ("Left", "left|LEFT|l| Left |←|a|A"),
        ("Up", "w|W|u"),
        ("Down", "s|down"),
        ("Right", "d|D|r|e"),
    ],
)
def test_directions_are_words_letters_and_arrows(direction, words):
    """Words, letters and arrows are accepted in any case; D is right, as on other screens."""
    for word in words.split("|"):
        [answer] = transcript(f"{word}\n", board="2 2 . .\n2 . . .\n. . . .\n. . . 2")
        assert answer.startswith(f"{direction}: "), word


def test_errors_are_explained_in_one_line():
    """Unknown commands, illegal moves and invalid arguments get one line each."""
    answers = transcript(
        "lefft\n\nleft\nundo 5\nright away\nnew clasic\nauto some\nsave\n",
        board="2 . .\n. . .",
        rules="classic:size=2x3",
    )
    assert answers == [
        "Unknown command 'lefft'. Did you mean 'left'? Type help.",
        "Left: nothing moves.",
        "undo 5: undo takes no argument; type it alone.",
        "right away: right takes no argument; type it alone.",
        "there are no rules named 'clasic'; did you mean 'classic'?",
        "auto 'some': give a number of moves, such as auto 10.",
        "Name a file, such as save game.2048.json.",
    ]


def test_new_asks_while_a_game_is_in_progress():
    """`new` only abandons a game after yes; any other input keeps it."""
    answers = transcript("left\nnew\nno\nnew\nscore\nyes\nnew 3x4\nyes\n")
    question = "A game is in progress. Start a new one? Type yes or no."
    assert answers[1:4] == [question, "The game continues.", question]
    assert answers[4] == "Score 0. 1 move."
    assert answers[5].startswith("Unknown command 'yes'")
    assert answers[6] == question
    assert answers[7].startswith("New game, 3 by 4.")


def test_a_hint_ranks_the_moves_and_auto_plays_them():
    """`hint` describes the best move and the others, and `auto` plays moves."""
    session = new_session("2 2 4 8\n. . . .\n. . . .\n. . . .")
    session.set_setting("player", "greedy")
    answers = said_to(session, "hint\nauto 3\nrules\n")
    assert answers[1].startswith("Left is best. Right is as good.")
    assert session.game.ply == 3
    assert answers[-1] == "Rules classic: 4x4, new 2 (90 %) or 4 (10 %), target 2048."


def test_the_end_of_the_game_is_announced():
    """After the end of the game, moves and hints are answered with the possible commands."""
    answers = transcript("left\nhint\nhelp\n", board="2 4 2\n4 2 4", rules="classic:size=2x3")
    assert answers[0] == "Game over: no move is left. Score 0. Type new, undo or review."
    assert answers[1:3] == ["The game is over. Type new or undo."] * 2
    assert answers[3:] == list(plain_text.HELP)


def test_a_player_plays_to_the_end():
    """A player given on the command line plays the game to its end."""
    answers = transcript("", rules="2x4", player="random:seed=5")
    assert answers[-1].startswith("Game over: ")
    assert all(": " in answer for answer in answers)


def test_games_are_saved_resumed_and_written(tmp_path):
    """Each set of rules has its own game; records can be saved, and errors are explained."""
    path = tmp_path / "game.2048.json"
    commands = ["left", "right", "resume 3x4", "new 3x4", "yes", "resume classic"]
    commands += [f"save {path}", f"save {tmp_path}", "board"]
    with closing(open_session()) as session:
        answers = said_to(session, "\n".join(commands))
    assert "There is no game to resume." in answers
    assert any(answer.startswith("Game resumed, 4 by 4.") for answer in answers)
    assert f"Saved as {path}." in answers
    assert path.exists()
    assert any(str(tmp_path) in answer and "Saved" not in answer for answer in answers)
    assert answers[-1].startswith("Row 4: ")


@pytest.mark.usefixtures("known_judge")
def test_a_saved_game_is_replaced_after_yes(tmp_path, monkeypatch):
    """`save` only replaces a file after yes; ``~`` is expanded in `save` and `review`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    path = tmp_path / "g.2048.json"
    commands = "save ~/g.2048.json\nleft\nsave ~/g.2048.json\nno\nsave ~/g.2048.json\nyes\n"
    saved, moved, asked, kept, again, replaced = transcript(commands)
    assert saved == replaced == f"Saved as {path}."
    assert moved.startswith("Left: ")
    assert asked == again == f"{path} already exists. Replace it? Type yes or no."
    assert kept == "The file was not replaced."
    assert Record.load(path).plies == 1
    assert not transcript("review ~/g.2048.json\n")[0].startswith("cannot read")


def test_through_a_real_pipe_without_escape_codes():
    """In a pipe, every line is printable and answers arrive before the input ends."""
    words = ["-m", "py2048", "play", "--ui", "lines", "--no-save", "--seed", "7"]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen([sys.executable, *words], encoding="utf-8", **pipe) as process:
        lines = [process.stdout.readline() for _ in range(2)]
        process.stdin.write("left\n")
        process.stdin.flush()
        lines.append(process.stdout.readline())
        rest, _ = process.communicate()
    assert process.returncode == 0
    assert lines[2] == "Left: nothing merged. A 2 at row 2, column 4. Score 0.\n"
    assert all(line.rstrip("\n").isprintable() for line in [*lines, *rest.splitlines()])


@pytest.mark.usefixtures("known_judge")
def test_a_review_describes_each_mistake_and_the_game():
    """A review writes one line per mistake and a summary, and counts as one hint."""
    session, review = Session(), known_review()
    session.start_from(known_record())
    answers = said_to(session, "review\nreview 3\nreview 99\nscore\n")[1:]
    assert len(answers) == len(FAULTS) + 4
    for ply, answer in zip(FAULTS, answers, strict=False):
        review.seek(ply - 1)
        assert answer == review.sentences
    assert answers[-4] == review.summary
    assert answers[-3].startswith(f"Move 3 of {MOVES}, ")
    assert answers[-2] == f"review 99: the game has {MOVES} moves."
    assert session.record().hints == 1


@pytest.mark.usefixtures("known_judge")
def test_a_record_in_a_file_is_reviewed(tmp_path):
    """Reviewing a file does not count as help for the current game; a missing file is reported."""
    known_record().save(tmp_path / "game.2048.json")
    session = new_session()
    lines = f"left\nreview {tmp_path}/game.2048.json\nreview {tmp_path}/none\nreview 1\n"
    *mistakes, summary, fault, move = said_to(session, lines)[2:]
    assert len(mistakes) == len(FAULTS)
    assert summary == known_review().summary
    assert "No such file" in fault
    assert move.startswith("Move 1 of 1, ")
    assert session.record().hints == 1


@pytest.mark.usefixtures("known_judge")
def test_the_coach_speaks_after_a_mistake():
    """The coach comments on a mistake, and on nothing else, until it is turned off."""
    session, fault = Session(), known_review().moves[4]
    session.start_from(known_record(), 4)
    session.set_setting("player", "greedy")  # no progress lines, as it needs no compiler
    lines = f"coach\n{fault.played}\nundo\nauto 1\ncoach\n{fault.best}\n"
    _started, on, _moved, comment, _undone, _auto, off, *rest = said_to(session, lines)
    assert on == "The coach judges your moves; the game counts as assisted."
    best = str(fault.best).capitalize()
    lost = f"Blunder \N{MINUS SIGN}50 %. You went {fault.played}. {best} was best."
    assert comment == f"Coach: {lost}"
    assert off == "The coach is off."
    assert not any(line.startswith("Coach") for line in rest)
    assert session.category == "computer"
