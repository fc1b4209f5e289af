"""The commands ``hint``, ``rules`` and ``players``."""

from __future__ import annotations

import time
from typing import Annotated

from py2048.app.commands.review import add_text, level_of
from py2048.app.session import Hint, PositionSnapshot, advise, hint_player
from py2048.app.session.levels import ME
from py2048.core.errors import GameOverError, PlayerError, install_line
from py2048.core.game import Game
from py2048.core.rules import Rules, list_rules
from py2048.players import Player, list_players, make_player
from py2048.players.registry import describe_player
from py2048.presentation import options
from py2048.presentation.describe import describe_rules
from py2048.presentation.hints import describe_hint, describe_outlook
from py2048.presentation.streams import POLL_S, StatusLine, complain
from py2048.presentation.words import outcome_text
from py2048.review import MoveReview
from py2048.review.levels import PERFECT, Level


def hint(
    board: options.BoardArgument,
    player: options.OptionalPlayer = None,
    rules: options.RulesOption = None,
    level: options.LevelOption = "",
    json: options.JsonOption = False,
) -> None:
    """Suggest a move, and show what the other directions lose.

    It is the best move for players of a level, your own, me, by default. With a player or the level
    perfect, a computer player suggests its own move: by default `perfect` where the best move is
    known, and `expectimax` otherwise.
    """
    position = options.board_of(board)
    snapshot = PositionSnapshot(options.rules_for(position, rules), position, 0)
    Game(snapshot.rules, seed=0, board=position)  # raises an error if the board has another shape
    adviser = make_player(player or hint_player(snapshot.rules, position))
    if not position.can_move():
        raise GameOverError("no move changes this board: the game is over")
    if player and level:
        raise PlayerError(f"--player {player} and --level {level} exclude each other: give one")
    chosen = level_of(snapshot.rules, level or (PERFECT if player else ME))
    if chosen and (move := _judged(snapshot, chosen)):
        if json:
            options.print_json({"level": str(chosen)} | add_text(move, move.to_json()))
        else:
            print(move.best)
            order = sorted(move.values, key=move.values.__getitem__, reverse=True)
            print(outcome_text(move, order))
        return
    answer = _hint_of(snapshot, adviser, quiet=json)
    if json:
        meaning = answer.meaning
        values = {str(direction): value for direction, value in answer.ranked}
        options.print_json(
            {"direction": str(answer.direction), "values": values, "unit": meaning.unit.value}
            | {"exact": meaning.is_exact, "policy": meaning.policy or None}
            | {"chance": meaning.chance._asdict() if meaning.chance else None}
            | {"player": answer.player}
        )
        return
    print(answer.direction)
    for (direction, value), (_, loss) in zip(answer.ranked, answer.losses, strict=True):
        worth = "" if answer.points is None else f" {max(value, 0):11,.0f} points"
        against = f" {-loss:+12,.1f}" if round(loss, 1) else ""
        print(f"  {direction!s:<5}{worth}{against}".rstrip())
    if outlook := describe_outlook(answer):
        print(outlook)


def _judged(snapshot: PositionSnapshot, level: Level) -> MoveReview | None:
    """Return the best move for players of a level; say why if it is not known."""
    from py2048.review.coaching import judge_position, why_not

    if why := why_not(snapshot.rules):
        if hint_player(snapshot.rules, snapshot.board) != "perfect":
            complain(f"perfect play judges instead: {why}")
        return None
    return judge_position(snapshot.rules, snapshot.board, level)


def _hint_of(snapshot: PositionSnapshot, player: Player, *, quiet: bool) -> Hint:
    """Return a player's hint. If the player must be compiled, first print a quick player's hint."""
    with StatusLine(quiet=quiet):
        for answer in advise(snapshot, player, apart=False):
            if not isinstance(answer, Hint):
                time.sleep(POLL_S)
            elif not answer.instead_of:
                return answer
            elif not quiet:
                complain(describe_hint(answer))
    raise AssertionError("advise yielded no final hint")


def rules(
    name: Annotated[
        str | None,
        options.word("RULES", "A preset, or custom rules.", options.rules_names),
    ] = None,
    json: options.JsonOption = False,
) -> None:
    """List the rule presets, or explain a set of rules."""
    chosen = (Rules.parse(name),) if name else list_rules()
    data = [
        {"name": each.name, "rules": str(each), "description": describe_rules(each)}
        | {"rows": each.rows, "columns": each.columns, "target": each.target}
        for each in chosen
    ]
    if json:
        options.print_json(data)
        return
    width = max(len(each.name) for each in chosen)
    for each in chosen:
        print(f"{each.name:<{width}}  {describe_rules(each)}")
    if name:
        print(f"{'':<{width}}  {chosen[0]}")


def players(json: options.JsonOption = False) -> None:
    """List the players and their options."""
    from py2048.players.ntuple.weights import shipped_folders

    texts = {name: describe_player(name) for name in list_players()}
    if json:
        options.print_json([{"name": name, "description": text} for name, text in texts.items()])
        return
    width = max(map(len, texts))
    for name, text in texts.items():
        print(f"{name:<{width}}  {text}")
    if len(shipped_folders()) == 1:
        complain(f"stronger networks come with: {install_line('py2048[strong]')}")
