"""The command, run as users run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import pytest
import typer.main
from PIL import Image, ImageChops, ImageStat
from tests.core.game.foreign_games import new_text, played
from tests.processes import python

from py2048 import Board, Direction, Game, Record, get_rules, list_players, list_rules
from py2048.app.commands.records import rules_name, verify
from py2048.app.session import open_session
from py2048.cli import main
from py2048.cli.app import app, help_texts

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs" / "_extensions"))

import command_pages  # noqa: E402 - it is not a package


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return a saved record of a short game."""
    game = Game(get_rules("ist"), seed=5, player="Ada")
    for _ in range(12):
        next(filter(game.attempt, (Direction.DOWN, Direction.LEFT, Direction.RIGHT)))
    path = tmp_path / "game.2048.json"
    game.record().save(path)
    return path


def test_rules_lists_every_preset_and_explains_one(cli):
    """Each preset has a line, and --json has its details."""
    lines = cli("rules").splitlines()
    assert [line.split()[0] for line in lines] == [rules.name for rules in list_rules()]
    assert str(get_rules("cits1401")) in cli("rules", "cits1401")
    data = cli.json("rules", "--json")
    assert [each["rules"] for each in data] == [str(rules) for rules in list_rules()]


def test_players_lists_every_player(cli):
    """Each player is listed with its options."""
    out = cli("players")
    assert [line.split()[0] for line in out.splitlines()] == list(list_players())
    assert "depth: int" in out
    assert [p["name"] for p in cli.json("players", "--json")] == list(list_players())


def test_hint_names_the_best_direction_and_the_worth_of_each(monkeypatch, cli):
    """A board is read from an argument or from stdin, and the hint printed as text or JSON."""
    out = cli("hint", "2 2 . . / . . . . / . . . . / . . . .", "--player", "greedy")
    assert out.split()[0] == "left"
    assert len(out.splitlines()) == 4
    monkeypatch.setattr("sys.stdin", StringIO("2 2 4\n. . .\n"))
    answer = cli.json("hint", "-", "--json", "-p", "greedy")
    assert answer["direction"] == "left"
    assert set(answer["values"]) == {"left", "right", "down"}
    assert (answer["unit"], answer["policy"], answer["chance"]) == ("rating", None, None)


def test_hint_says_what_comes_where_that_is_known(capsys):
    """Expected points and the chance of the next tile agree in text and JSON."""
    words = ["hint", "128 32 8 4 / 2 . . 2", "--player", "ntuple"]
    assert main(words) == main([*words, "--json"]) == 0
    text, data = capsys.readouterr().out.split("{", 1)
    answer = json.loads("{" + data)
    assert (answer["unit"], answer["policy"]) == ("points", "ntuple")
    assert f" {max(answer['values'].values()):,.0f} points" in text
    tile, made, games = answer["chance"].values()
    assert text.endswith(f" {tile} was made in {made:,} of {games:,} games.\n")


def test_what_rounds_to_no_loss_is_none(cli):
    """Values that differ only in the last bits print no loss."""
    words = ["hint", "2 2 . . / . . . . / . . . . / . . . .", "--level", "perfect"]
    out = cli(*words, "--rules", "classic:target=4,end=target")
    assert sorted(out.split()[1:]) == ["down", "left", "right"]


def test_watch_prints_a_game_that_its_seed_reproduces(cli):
    """Each move is a line, the result comes last, and a seed reproduces the game."""
    words = ["watch", "--player", "greedy", "--rules", "3x3", "--seed", "4"]
    out = cli(*words)
    (result,) = cli.json(*words, "--json")
    assert (result["seed"], result["player"]) == (4, "greedy")
    assert f"score {result['score']}, largest tile {result['max_tile']}" in out
    moves = [line for line in out.splitlines() if re.match("(Up|Down|Left|Right):", line)]
    assert len(moves) == result["plies"]
    assert out.count("Game over") == 1


def test_watch_plays_several_games(cli):
    """Each game has its own seed; --quiet prints only results, and --moves stops early."""
    words = ["watch", "-p", "random", "--games", "3", "--moves", "4", "--seed", "1", "-q"]
    lines = [line for line in cli(*words).splitlines() if "seed" in line]
    assert len({line.split("seed")[1] for line in lines}) == 3
    assert all("4 moves" in line for line in lines)


def test_a_reader_may_exit_early():
    """``py2048 watch | head`` exits silently."""
    [(status, output)] = shell("py2048 watch -p random --games 50 | head -3")
    assert (status, len(output.splitlines())) == (0, 3)


def test_replay_shows_every_turn(record, cli):
    """Replay prints any range of turns, as sentences with boards or as JSON."""
    out = cli("replay", str(record))
    assert out.startswith("ist: turn 0 of 12, score 0")
    assert str(list(Record.load(record).replay())[-1][0]) in out
    part = cli("replay", str(record), "--from", "3", "--to", "5", "--no-boards")
    assert [line[:2] for line in part.splitlines()[-2:]] == ["4.", "5."]
    positions = cli.json("replay", str(record), "--json")
    assert [p["turn"] for p in positions] == list(range(13))
    assert positions[-1]["score"] == Record.load(record).score


def test_the_readmes_animation_is_of_a_verified_record(tmp_path, capsys):
    """The documented command creates the animation, with one frame per position."""
    page = (ROOT / "docs/reference/command.md").read_text(encoding="utf-8")
    found = re.search(r"`py2048 (replay (\S+hero\S+) .* --output) hero.gif`", page)
    made = tmp_path / "hero.gif"
    words = [str(ROOT / word) if "/" in word else word for word in found[1].split()]
    assert main(["verify", str(ROOT / found[2])]) == main([*words, str(made)]) == 0
    assert "tiles match seed" in capsys.readouterr().out
    with Image.open(made) as ours, Image.open(ROOT / "docs/images/hero.gif") as published:
        assert ours.n_frames == published.n_frames == 61
        for frame in (0, 30, 60):
            ours.seek(frame)
            published.seek(frame)
            apart = ImageChops.difference(ours.convert("L"), published.convert("L"))
            assert ImageStat.Stat(apart).mean[0] < 1


def test_verify_says_what_it_checked(record, capsys, cli):
    """A valid record prints a line on stdout, also beside an invalid one."""
    assert f"{record}: verified, ist" in cli("verify", str(record))
    bad = record.with_name("bad.json")
    bad.write_text(record.read_text().replace("Ada", "Bob"))
    assert main(["verify", str(bad), str(record)]) == 2
    captured = capsys.readouterr()
    assert captured.out.count("verified") == 1
    assert captured.err.strip() == (
        f"py2048: {bad}: the record was changed after it was written: its checksum is wrong"
    )
    found = cli.json("verify", "--json", str(bad), str(record), status=2)
    assert [each["ok"] for each in found] == [False, True]


def test_an_empty_secret_verifies_nothing(record, capsys):
    """An empty secret, as from an unset variable, is rejected."""
    for words in (["--secret", ""], ["--secret="], ["--secret", "00" * 32, "--commitment", ""]):
        assert main(["verify", str(record), *words]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert verify([record], secret="") == 2
    assert "differs from the secret's draw" in capsys.readouterr().err


def test_verify_says_what_the_seed_drew(tmp_path, cli):
    """A manual start is not attributed to the seed, even if all later tiles are."""
    classic, path = get_rules("classic"), tmp_path / "game.2048.json"
    start = Board.from_rows([[1024, 1024, 0, 0], *[[0] * 4] * 3])
    for board, drawn in ((None, ""), (start, " after a start set up by hand")):
        game = Game(classic, seed=7, board=board)
        game.play(game.legal_directions()[0])
        game.record().save(path)
        assert cli("verify", str(path)).endswith(f", tiles match seed 7{drawn}\n")
        assert cli.json("verify", str(path), "--json")[0]["seeded_start"] is (board is None)


def test_only_a_file_is_replaced(record, tmp_path, cli):
    """Writing to a device or a pipe is refused and leaves it unchanged."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for words in (["import", str(record), str(pipe), "--force"], ["backup", str(pipe)]):
        assert f"cannot write {pipe}: it exists" in cli.error(*words)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "words",
    [
        ["review", "in", "--judge", "greedy", "--output", "in"],
        ["report", "in", "--judge", "greedy", "--output", "link"],
        ["report", ".", "--judge", "greedy", "--output", "kept.txt"],
        ["evaluate", "greedy", "-n", "2", "--rules", "2x2", "--log", "./new", "--csv", "new"],
        ["weights", "in", "--output", "in"],
        ["course", "check", "ist", "in", "--csv", "in"],
    ],
)
def test_no_file_that_is_read_or_written_is_replaced(words, record, tmp_path, monkeypatch, cli):
    """A command refuses to overwrite its own files, under any name, before it starts."""
    monkeypatch.chdir(tmp_path)
    before = record.rename("in").read_bytes()
    for name in ("link", "kept.txt"):
        Path(name).hardlink_to("in")
    assert f"{words[-1]} would replace a file that is read or written" in cli.error(*words)
    assert Path("in").read_bytes() == before
    assert not Path("new").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["review", "in", "--judge", "greedy", "-o"],
        ["replay", "in", "-o"],
        ["evaluate", "greedy", "-n", "2", "--rules", "2x2", "--csv"],
        ["solve", "2x2", "-o"],
        ["backup"],
    ],
)
def test_an_existing_file_is_replaced_only_if_forced(words, record, tmp_path, monkeypatch, cli):
    """A command that writes a file refuses an existing one and names ``--force``."""
    monkeypatch.chdir(tmp_path)
    record.rename("in")
    file = Path("old.gif")
    file.write_text("kept")
    assert "old.gif exists: choose another name, or give --force" in cli.error(*words, str(file))
    assert file.read_text() == "kept"
    assert main([*words, str(file), "--force"]) == 0
    assert file.read_bytes() != b"kept"


def test_scores_shows_what_was_reached(cli):
    """Best scores are listed by rules and category, followed by the best games."""
    assert cli("scores") == "No scores yet.\n"
    session = open_session()
    session.start(get_rules("2x4"), seed=2)
    while not session.game.is_over:
        session.move(session.game.legal_directions()[0])
    score = session.game.score
    session.close()
    out = cli("scores")
    assert len(re.findall(rf"2x4 +plain +{score:,} ", out)) == out.count("2x4") == 2
    data = cli.json("scores", "--json", "--rules", "2x4")
    assert [data["best"][0]["best"], data["games"][0]["score"]] == [score, score]
    assert cli.json("scores", "--json", "--rules", "classic") == {"best": [], "games": []}


GREEDY = ("evaluate", "greedy", "--quiet")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["hint", "2 4 / 4 2"], "the game is over"),
        (["watch", "--rules", "clasic"], "did you mean 'classic'"),
        (["play", "--theme", "drak", "--ui", "terminal"], "drak"),
        (["vrify"], "did you mean 'verify'"),
        (["verify"], "Missing argument"),
        (["--rulse", "5x5"], "did you mean '--rules'"),
        (["play", "--ruels", "5x5"], "there is no option '--ruels'; did you mean '--rules'?\n"),
        (["hint", "-x"], "there is no option '-x'; --help lists them\n"),
        (["zzz"], "no command is called 'zzz'; --help lists them\n"),
        (["tables", "buidl"], "no command is called 'buidl'; did you mean 'build'?\n"),
        (["--rules", "5x5", "watch"], "py2048 watch --rules 5x5"),
        (["5x5"], "py2048 --rules 5x5"),
        (["play", "--ui", "terminal"], "needs a terminal"),
        (["watch", "--delay", "nan"], "'--delay': 'nan' should be less than or equal to 3600"),
        (["train", "dir", "--set", "lambda=nan"], "lambda = nan: expected `float`"),
        (["watch", "--games", "0"], "'0' should be greater than or equal to 1"),
        (["play", "--ui", "desktp"], "Invalid value for '--ui': 'desktp' is not one of"),
        (["tables"], "tables needs one of its commands: list, build, query, check"),
        (["play", "--resume", "--seed", "9"], "--seed 9 is for a new game"),
        (["replay", "x.json", "--from", "2", "--to", "1"], "--to 1 is before --from 2"),
        (["practice", "--seed", "5"], "--seed 5 draws an ending of a --table"),
        (["practice", "--statistics", "--only", "row"], "--statistics excludes --only and"),
        (["watch", "--rules", ""], "'' after --rules: give a value, or leave it out"),
        (["play", "--size="], "'' after --size: give a value, or leave it out"),
        ([""], "'' after py2048"),
        (["replay", "/dev/zero"], "/dev/zero: the input has more than 67,108,864 bytes"),
        (["weights", "/dev/zero"], "/dev/zero cannot be read: it exists and is not"),
        (["solve", "2x4", "--memory", "1M"], "'1M' is not an amount of memory from 64M to 1024T"),
        (["backup", "x.gz", "--database", "nonsense"], "'nonsense' is not a database URL"),
        (["serve", "--database", "sqlite:////no/x"], "the database folder /no does not exist"),
        (["serve", "--prot", "80"], "did you mean '--port'"),
        (["serve", "--public-url", "https://x.org/2048"], "without a path"),
        (["serve", "--trusted-proxies", "nginx"], "'nginx' is not an address or network"),
        (
            ["backup", "x.gz", "--database", "sqlite:///no/where.sqlite3"],
            "does not exist; create it first",
        ),
        (
            ["practice", "--only", "cornr"],
            "no kind of mistake is called 'cornr'; did you mean 'corner'?",
        ),
        (["practice", "--table", "L3-256", "--only", "row"], "--table excludes --only"),
        (["puzzle", "--rating", "9-1"], "'9-1' is not a range of ratings: give one such as"),
        (["puzzle", "--rating", "1-2"], "no puzzle is rated 1-2: ratings go from "),
        (["puzzle", "--id", "1", "--daily"], "exclude each other: give one of them"),
        ([*GREEDY, "--csv", "nowhere/out.csv"], "there is no folder nowhere"),
        ([*GREEDY, "--csv", "."], "cannot write .: it is a folder"),
        ([*GREEDY, "--plot", "out.txt"], "end its name in .png"),
        ([*GREEDY, "--records", "nowhere/records"], "cannot make the folder nowhere/records"),
        ([*GREEDY, "--cluster", "auto", "--jobs", "2"], "leave it out with --cluster"),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(words, reason, tmp_path, monkeypatch, capsys):
    """Invalid input prints one line on stderr that names the value, and nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    captured = capsys.readouterr()
    assert reason in captured.err
    assert captured.err.startswith("py2048: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("words", [["hint", "-"], ["tables", "query", "L3-256", "-"]])
def test_an_input_without_end_shows_no_board(words, monkeypatch, cli):
    """Endless input does not exhaust the memory."""
    with Path("/dev/zero").open(encoding="ascii") as endless:
        monkeypatch.setattr("sys.stdin", endless)
        assert "standard input shows no board: it has over" in cli.error(*words)


def test_a_data_folder_that_cannot_be_written_is_one_clear_line(tmp_path, monkeypatch, cli):
    """The error names the folder, and playing without saving still works."""
    wall = tmp_path / "wall"
    wall.write_text("a file where a folder should be")
    monkeypatch.setenv("PY2048_HOME", str(wall))
    for words in (["scores"], ["play", "--ui", "lines"]):
        assert str(wall) in cli.error(*words)
    monkeypatch.setattr(sys, "stdin", StringIO("left\n"))
    assert main(["play", "--ui", "lines", "--no-save"]) == 0
    assert wall.read_text() == "a file where a folder should be"


def test_ctrl_c_ends_a_game_of_lines(monkeypatch):
    """Ctrl-C saves the game and exits with the usual status."""
    lines = Mock(readline=Mock(side_effect=["left\n", "right\n", "up\n", KeyboardInterrupt]))
    monkeypatch.setattr(sys, "stdin", lines)
    assert main(["play", "--ui", "lines", "--rules", "2x4", "--seed", "5"]) == 130
    with closing(open_session()) as session:
        assert session.resume()
        assert session.game.rules.name == "2x4"
        assert session.game.ply > 0


def test_lines_play_a_game_from_stdin(monkeypatch, cli):
    """Moves are read from stdin; the game is saved at the end of input and resumed next time."""
    for words, typed, expected in (
        (["--rules", "classic", "--seed", "6"], "left\ndown\n", "New game"),
        ([], "quit\n", "Game resumed"),
        (["--new"], "quit\n", "New game"),
    ):
        monkeypatch.setattr(sys, "stdin", StringIO(typed))
        assert expected in cli("play", "--ui", "lines", *words)


def test_the_version_and_the_help_are_there(cli, monkeypatch):
    """Every command has a help text, in the user's language."""
    assert re.fullmatch(r"py2048 \d+\.\d+\.\d+\n", cli("--version"))
    english = {" ".join(text.split()) for *_, text in help_texts() if " " in text}
    english |= {"Usage:", "Options:", "Arguments:", "[required]", "[default:"}
    for language, untranslated in (("en", 4), ("pt_PT", 0)):
        monkeypatch.setenv("LANGUAGE", language)
        overview = cli("--help")
        for words, _ in command_pages.walk(typer.main.get_command(app), ""):
            assert words.split()[0] in overview
            shown = " ".join(cli("help", *words.split()).split())
            assert min(sum(text in shown for text in english), 4) == untranslated


def test_players_read_their_language(cli, monkeypatch):
    """Output for players follows the locale variables; JSON is always English."""
    for words, stdin, said in (
        (["rules", "ist"], "", r"4x4, novas 2 \(80 %\) ou 4 \(20 %\), objetivo 2048"),
        (["puzzle", "--id", "17"], "up", "desafio 17, nível 1.477, .* Baixo era melhor. .* pontos"),
        (["puzzle", "--statistics"], "", "nível [0-9.]+ ± [0-9]+, resolvidos 0 de 1"),
    ):
        monkeypatch.setattr(sys, "stdin", StringIO(stdin))
        monkeypatch.setenv("LANGUAGE", "pt_PT")
        assert re.search(said, " ".join(cli(*words).split())), words
    assert "new 2 (80 %) or 4 (20 %)" in cli("rules", "ist", "--json")


def test_an_option_has_one_meaning():
    """An option takes the same kind of value everywhere, and short options have similar help.

    Each command and option has a help text, from which its page is generated.
    """
    kinds: dict[str, set[object]] = {}
    for words, command in command_pages.walk(typer.main.get_command(app)):
        assert command.help, words
        for each in command.params:
            assert each.help or each.hidden or each.param_type_name == "argument", each.opts
            for name in each.opts if each.param_type_name == "option" else ():
                start_of_help = each.help[:8] if name in ("-j", "-n") else ""
                value = "PATH" if each.metavar in ("FILE", "DIR") else each.metavar
                kinds.setdefault(name, set()).add((value, each.is_flag, start_of_help))
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


TERM = """\
title = "2048"
timezone = "UTC"
secret = "0123456789abcdef"
course = "comp1127"
[assignments.a1]
title = "Moves"
due = 2026-11-30T12:00:00
"""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ver", "verify"),
        ("play --rules cits", "cits1401"),
        ("watch --player gre", "greedy"),
        ("play --theme da", "dark"),
        ("rules cits", "cits1401"),
        ("--rules cits", "cits1401"),
        ("--reduced", "--reduced-motion"),
        ("play --ui t", "terminal"),
        ("practice --only c", "corner"),
        ("course check ci", "cits1401"),
        ("tables build 4431", "4431"),
        ("review --judge perf", "perfect"),
        ("replay g", "game.2048.json"),
        ("report fol", "folder/"),
        ("train net --weights sh", "shipped"),
        ("train net --weights w", "w.npz"),
        ("watch --player expectimax:dep", "expectimax:depth="),
        ("watch --player = expectimax : ms = 9,dep", "9,depth="),
        ("watch --player montecarlo :", "games= moves= seed="),
        ("benchmark-agent pro", "program:"),
        ("solve 2x2 --goal sc", "score"),
        ("solve 2x2 --cluster a", "auto"),
        ("train net --set lam", "lambda="),
        ("course export term a", "a1"),
        ("course alike nowhere a", ""),
    ],
)
def test_the_shell_completes_commands_and_values(typed, offered, tmp_path, monkeypatch, capsys):
    """Bash completes commands, options, their values and matching files."""
    monkeypatch.chdir(tmp_path)
    for name in ("folder", "term"):
        Path(name).mkdir()
    Path("term/course.toml").write_text(TERM)
    for name in ("game.2048.json", "game.png", "w.npz", "w.json"):
        Path(name).touch()
    monkeypatch.setenv("_PY2048_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(["py2048", *typed.split()]))
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    with pytest.raises(SystemExit) as left:
        main([])
    assert (left.value.code, capsys.readouterr().out.split()) == (0, offered.split())


def shell(*lines: str, **variables: str) -> list[tuple[int, str]]:
    """Run shell lines in parallel, with our ``py2048``; return the status and output of each.

    Unredirected standard output is discarded.
    """
    start = f'py2048() {{ "{sys.executable}" -m py2048 "$@"; }}\n'
    running = [
        subprocess.Popen(
            ["sh", "-c", start + line],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | variables,
        )
        for line in lines
    ]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    return [(each.returncode, text) for each, text in zip(running, outputs, strict=True)]


def test_a_full_disk_is_one_line_for_every_command():
    """A failed write exits with status 2 and the reason."""
    commands = ["--help", "rules", "watch -p greedy --moves 9", "--ui lines --no-save", "--ui demo"]
    reason = "py2048: cannot write to standard output: No space left on device\n"
    lines = [f"py2048 {command} >/dev/full" for command in commands]
    assert shell(*lines) == [(2, reason)] * len(commands)
    assert shell("py2048 rules >/dev/full 2>/dev/full", PYTHONUNBUFFERED="") == [(2, "")]


def test_closed_streams_are_accepted():
    """Closed input is treated as empty, and output without a reader is dropped."""
    empty = "py2048: a board needs at least one row with a cell\n"
    assert shell(
        "py2048 rules >&-",
        "py2048 hint - <&-",
        "py2048 hint 3 2>&-",
        "py2048 play --ui lines --no-save <&- >&- 2>&-",
    ) == [(0, ""), (2, empty), (2, ""), (0, "")]


def test_unencodable_characters_are_replaced():
    """ASCII output and undecodable input do not fail any command."""
    code = "from py2048.cli import main; main(['rules', '2x4']); print('✓ 3 ± 1 ♞')"
    [(status, text), (refused, message)] = shell(
        f'"{sys.executable}" -c "{code}"',
        r"printf '\377' | py2048 hint -",
        PYTHONIOENCODING="ascii",
    )
    assert (status, text.splitlines()[-1]) == (0, "+ 3 +/- 1 ?")
    assert (refused, message) == (
        2,
        "py2048: '?' is not a cell: write a tile such as 2, or . for empty\n",
    )


def test_replays_come_from_a_pipe_and_several_from_a_file(tmp_path):
    """``-`` reads standard input; a target that ends in ``/`` becomes a folder for all games."""
    one, two = (new_text(played("classic", seed, 20)) for seed in (1, 2))
    piped = python("-m", "py2048", "verify", "-", stdin=one)
    assert (piped.returncode, piped.stdout) == (0, "-: verified, classic, score 76, 20 moves\n")
    (tmp_path / "both.txt").write_text(f"{one}\n\nand\n{two}\n")
    both, folder = str(tmp_path / "both.txt"), tmp_path / "games"
    assert main(["import", both, str(tmp_path / "x")]) == 2
    folder.mkdir()
    assert main(["import", both, str(folder)]) == 0
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["both-1.2048.json", "both-2.2048.json"]
    assert main(["import", both, str(folder)]) == 2
    assert main(["import", both, str(folder), "--force"]) == 0
    (tmp_path / "one.txt").write_text(one)
    made = tmp_path / "records"
    assert main(["import", str(tmp_path / "one.txt"), f"{made}/"]) == 0
    assert [path.name for path in made.iterdir()] == ["one.2048.json"]
    assert main(["verify", both, *map(str, folder.iterdir())]) == 0


def test_rules_of_earlier_versions_have_a_name():
    """Scores under rules that are no longer accepted are still listed."""
    assert rules_name("x:scoring=moves:2000000:-1") == "x"
    assert rules_name("a\x1b[1mb:size=3x3") == "a[1mb"
