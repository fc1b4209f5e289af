"""Tournaments give the same games wherever they are played, and report faults."""

from __future__ import annotations

import signal
from contextlib import closing
from dataclasses import replace
from itertools import chain
from multiprocessing import active_children

import pytest
from tests.lab.arena.plugin import fragile

from py2048 import Game, Record, Rules, get_rules, list_rules, make_player
from py2048.core.errors import PlayerError, Py2048Error, TournamentError
from py2048.core.rng import derive_seed
from py2048.lab.arena import GameResult, Results, Tournament, compare_players, run_tournament
from py2048.lab.arena.jobs import Job, JobResult, own_seed, run_job
from py2048.lab.arena.pools import ProcessPool, SerialPool
from py2048.lab.arena.tournament import Schedule

SMALL = get_rules("2x4")


def games_of(results: Results) -> dict[str, list[GameResult]]:
    """Return all games without their duration."""
    return {
        spec: [replace(game, seconds=0.0) for game in results.of(spec).values()]
        for spec in results.tournament.players
    }


def by_hand(spec: str, rules: Rules, seed: int) -> Game:
    """Play the game of a seed with a `Game` and a player."""
    player = make_player(own_seed(spec, seed))
    game = Game(rules, seed=seed, player=player.name)
    while not game.is_over:
        game.play(player.choose(game))
    return game


@pytest.mark.parametrize("name", [rules.name for rules in list_rules() if rules.cells <= 25])
def test_games_are_those_of_a_game_and_a_player(name):
    """Tournament games equal those of a plain loop over a `Game` and a player."""
    rules = get_rules(name)
    results = compare_players(Tournament(("random",), rules, 2, seed=3, recorded=True), jobs=1)
    for number, played in results.of("random").items():
        game = by_hand("random", rules, derive_seed(3, number))
        assert (played.seed, played.score) == (game.seed, game.score)
        assert (played.max_tile, played.moves) == (game.board.max_tile, game.ply)
        assert played.record is not None
        record = Record.from_json(played.record)
        record.verify()
        assert record == replace(game.record(), started="", finished="")
        assert record.has_seeded_start()
        assert record.follows_seed()


def test_results_are_the_same_for_any_number_of_processes():
    """Results and records do not depend on the number of processes."""
    tournament = Tournament(("random", "greedy"), get_rules("3x3"), 30, seed=11, recorded=True)
    wanted = games_of(compare_players(tournament, jobs=1))
    assert [game.game for game in wanted["random"]] == list(range(30))
    assert games_of(compare_players(tournament, jobs=3)) == wanted


@pytest.mark.usefixtures("plugins")
def test_whole_games_are_those_of_choose():
    """Games of a player's own loop equal those played move by move."""
    tournament = Tournament(("whole", "whole:seed=4"), SMALL, 12, seed=2)
    results = compare_players(tournament, jobs=1)
    recorded = compare_players(replace(tournament, recorded=True), jobs=1)
    plain = {
        spec: [replace(game, record=None) for game in games]
        for spec, games in games_of(recorded).items()
    }
    assert games_of(results) == plain
    seeded = [by_hand("whole", SMALL, derive_seed(2, number)) for number in range(12)]
    assert [game.score for game in games_of(results)["whole"]] == [game.score for game in seeded]


@pytest.mark.usefixtures("plugins")
def test_a_process_that_dies_is_replaced(tmp_path):
    """Killed workers do not change the results."""
    tournament = Tournament((fragile(tmp_path / "deaths", 2),), SMALL, 10)
    found = games_of(compare_players(tournament, jobs=2))
    assert not list((tmp_path / "deaths").iterdir())
    wanted = compare_players(Tournament(("corner",), SMALL, 10), jobs=1).of("corner").values()
    scores = [game.score for (games,) in [found.values()] for game in games]
    assert scores == [game.score for game in wanted]


@pytest.mark.usefixtures("plugins")
def test_a_player_that_always_kills_its_process_is_named(tmp_path):
    """A player that kills three processes in turn fails by name."""
    tournament = Tournament((fragile(tmp_path / "deaths", 100),), SMALL, 1)
    with pytest.raises(PlayerError, match=r"fragile.*game 0.*signal 9"):
        compare_players(tournament, jobs=2)


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize(
    ("spec", "jobs", "reason"),
    [
        ("wrong", 1, "'wrong' chose up, which is illegal, on "),
        *(
            ("failing", jobs, "'failing' failed in game [0-9]+: ZeroDivisionError")
            for jobs in (1, 2)
        ),
    ],
)
def test_a_player_that_fails_stops_the_tournament(spec, jobs, reason):
    """A failing player stops the tournament with its name and position."""
    with pytest.raises(PlayerError, match=reason) as caught:
        compare_players(Tournament((spec,), SMALL, 4), jobs=jobs)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("players", "games", "reason"),
    [
        ((), 1, "needs a player"),
        (("greedy", "greedy"), 1, "'greedy' is named twice"),
        (("greedy",), 0, "games must be 1 to 10,000,000, not 0"),
    ],
)
def test_impossible_tournaments_are_refused(players, games, reason):
    """Invalid tournaments are refused before any game."""
    with pytest.raises(Py2048Error, match=reason):
        Tournament(players, SMALL, games)
    assert issubclass(TournamentError, ValueError)


def test_a_tournament_goes_on_with_the_games_that_are_missing():
    """A continued tournament plays only missing games and gives the same results."""
    tournament = Tournament(("greedy", "corner"), SMALL, 10)
    wanted = compare_players(tournament, jobs=1)
    known = [game for game in wanted.of("greedy").values() if game.game % 3]
    results = Results(tournament, known)
    assert not results.complete
    with closing(SerialPool()) as pool:
        new = list(run_tournament(results, pool))
    assert results.complete
    assert len(new) == 20 - len(known)
    assert not {game.game for game in new if game.player == "greedy"} & {g.game for g in known}
    assert games_of(results) == games_of(wanted)


def test_a_tournament_that_is_to_end_plays_what_has_begun():
    """Games in progress are finished after keep_going returns False."""
    results = Results(Tournament(("random",), SMALL, 1000))
    with closing(ProcessPool(2)) as pool:
        list(run_tournament(results, pool, lambda: results.count < 5))
    assert 5 <= results.count < 1000
    assert list(results.of("random")) == list(range(results.count))


def test_an_interrupt_waits_until_a_game_is_written_and_counted():
    """After Ctrl-C, the saved games are exactly the counted ones."""
    results, written = Results(Tournament(("random",), SMALL, 10)), []

    def save(played: GameResult) -> None:
        signal.raise_signal(signal.SIGINT)
        written.append(played)

    with closing(SerialPool()) as pool, pytest.raises(KeyboardInterrupt):
        list(run_tournament(results, pool, save=save))
    assert written == list(results.of("random").values())
    assert results.count == 1


def test_jobs_are_short_beside_the_whole_and_players_stay_side_by_side():
    """Jobs begin with single games and grow to half a second; none is lost."""
    tournament = Tournament(("greedy", "corner"), SMALL, 1000)
    schedule = Schedule(Results(tournament), width=2)
    given: dict[str, list[int]] = {"greedy": [], "corner": []}
    sizes = []
    while job := schedule.next_job():
        given[job.player] += job.games
        sizes.append(len(job.games))
        schedule.note(
            job, JobResult((), len(job.games) * (0.01 if job.player == "greedy" else 0.002))
        )
        assert abs(len(given["greedy"]) - len(given["corner"])) <= 250
    assert sizes[:2] == [1, 1]
    assert max(sizes) > 40
    assert sizes[-1] == 1
    assert given == {"greedy": list(range(1000)), "corner": list(range(1000))}


def test_closing_a_pool_ends_its_processes():
    """Closing a pool ends its processes even while they work."""
    before, pool = set(active_children()), ProcessPool(2)
    long = (Job("expectimax:depth=3", get_rules("classic"), 0, (number,)) for number in range(3))
    jobs = chain([Job("random", SMALL, 0, (0,))], long)
    assert next(pool.run_jobs(lambda: next(jobs, None)))[0].player == "random"
    processes = set(active_children()) - before
    assert len(processes) == 2
    pool.close()
    assert not any(process.is_alive() for process in processes)


def test_a_player_sees_no_seed(monkeypatch):
    """Players see a seed that does not predict the game's tiles."""
    seen = set()

    def choose(self: object, game: Game) -> object:
        seen.add(game.seed)
        return game.legal_directions()[0]

    monkeypatch.setattr("py2048.players.simple.GreedyPlayer.choose", choose)
    run_job(Job("greedy", SMALL, 77, (0, 1)))
    assert seen == {0}
    assert derive_seed(77, 0) != 0
