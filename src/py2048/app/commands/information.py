"""The commands ``hint``, ``rules`` and ``players``."""

from __future__ import annotations

import time
from typing import Annotated

from py2048.app.commands.review import add_text, level_of
from py2048.app.session import Hint, PositionSnapshot, advise, hint_player
from py2048.app.session.levels import ME
from py2048.core.errors import GameOverError, PlayerError
from py2048.core.game import Game
from py2048.core.installation import install_line
from py2048.core.language import N_, _, number
from py2048.core.rules import Rules, list_rules
from py2048.players import Player, list_players, make_player
from py2048.players.registry import describe_player
from py2048.presentation import options
from py2048.presentation.describe import describe_rules
from py2048.presentation.hints import describe_hint, describe_outlook, ranked
from py2048.presentation.screen import points
from py2048.presentation.streams import POLL_S, StatusLine, complain
from py2048.presentation.words import columns, name_of, outcome_text
from py2048.review import MoveReview
from py2048.review.levels import PERFECT, Level


def hint(
    board: options.BoardArgument,
    player: options.OptionalPlayer = None,
    rules: options.RulesOption = None,
    level: options.LevelOption = "",
    json: options.JsonOption = False,
) -> None:
    """Suggest a move, and show how much the other directions lose.

    The default is the best move for players of your own level (me). With a player, or with the
    level perfect, a computer player suggests its own move. The default player is `perfect` if the
    best move is known, and otherwise `expectimax`.
    """
    position = options.board_of(board)
    snapshot = PositionSnapshot(options.rules_for(position, rules), position, 0)
    Game(snapshot.rules, seed=0, board=position)  # Raises if the rules do not fit the board.
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
            print(name_of(move.best).lower())
            print(outcome_text(move, ranked(move)))
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
    print(name_of(answer.direction).lower())
    rows = list[list[str]]()
    for (direction, value), (_same, loss) in zip(answer.ranked, answer.losses, strict=True):
        worth = "" if answer.points is None else points(round(max(value, 0)))
        against = number(-loss, 1, signed=True) if round(loss, 1) else ""
        rows.append([f"  {name_of(direction).lower()}", worth, against])
    print(columns(rows))
    if outlook := describe_outlook(answer):
        print(outlook)


def _judged(snapshot: PositionSnapshot, level: Level) -> MoveReview | None:
    """Return the best move for players of a level, or None if the rules do not support levels."""
    from py2048.review.coaching import why_not

    if why := why_not(snapshot.rules):
        if hint_player(snapshot.rules, snapshot.board) != "perfect":
            complain(_("judged by perfect play instead: {why}").format(why=why))
        return None
    return snapshot.judge(level).judged


def _hint_of(snapshot: PositionSnapshot, player: Player, *, quiet: bool) -> Hint:
    """Return a player's hint. While the player compiles, print a faster player's hint."""
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
        summary, title, given = text.partition(N_(" Options: "))
        print(f"{name:<{width}}  {_(summary)}{_(title)}{given}")
    if len(shipped_folders()) == 1 and (line := install_line("strong")):
        complain(_("stronger networks come with: {line}").format(line=line))
