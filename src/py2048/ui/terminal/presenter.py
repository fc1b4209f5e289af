"""From the session's events to the table: what each of them looks like."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import TYPE_CHECKING

from py2048.direction import Direction
from py2048.players import Unit
from py2048.session import (
    GameOver,
    GameStarted,
    Hint,
    Hinted,
    IllegalMove,
    Moved,
    Session,
    Undone,
    Won,
)
from py2048.ui.shared.autoplay import Autoplay
from py2048.ui.shared.describe import describe, loss_text
from py2048.ui.terminal import motion
from py2048.ui.terminal.table import Status, Table

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling

LEAST_PACE = 0.2
"""Animations are hurried for a fast autoplay; below this share of their time they are left out."""

WON = "[bold $accent]You made {tile}![/]\n\nPlay on, or press [bold]n[/]\nfor a new game"
OVER = (
    "[bold $accent]{title}[/]\n\nScore [bold]{score:,}[/]\n{best}\n\n"
    "[bold $accent]n[/] [@click=app.new]new[/]  [bold $accent]u[/] [@click=app.undo]undo[/]  "
    "[bold $accent]q[/] [@click=app.quit]quit[/]"
)

HELP = {"assisted": "assisted", "computer": "by a player"}
"""What is said of a game's category; nothing of a plain one."""

ARROWS = {Direction.UP: "↑", Direction.DOWN: "↓", Direction.LEFT: "←", Direction.RIGHT: "→"}


class Presenter:
    """Shows on a table what happens in a session.

    Attributes:
        is_animated: whether tiles slide or jump.
    """

    def __init__(
        self, session: Session, table: Table, autoplay: Autoplay, *, is_animated: bool
    ) -> None:
        self._session = session
        self._table = table
        self._autoplay = autoplay
        self.is_animated = is_animated
        self._compiling: Compiling | None = None

    @singledispatchmethod
    def show(self, event: object) -> None:
        """Show what happened. Whatever was still moving jumps to its end."""
        raise TypeError(f"{event!r} is no event of a session")

    @show.register
    def _(self, event: GameStarted) -> None:
        self._clear("Game resumed" if event.resumed else "")
        self._table.set_shape(event.board.shape)
        self._show_board(motion.appearing(event.board))
        self.show_status()

    @show.register
    def _(self, event: Moved) -> None:
        self._clear("")
        slide, spawn = event.turn.slide, event.turn.spawn
        cell = None if spawn is None else spawn.cell
        self._show_board(motion.forward(event.before, slide.motions, event.board, cell))
        self.show_status()
        self._table.flash(event.points)

    @show.register
    def _(self, event: Undone) -> None:
        self._clear("")
        self._show_board(motion.backward(event.backward_motions, event.board))
        self.show_status()

    @show.register
    def _(self, event: IllegalMove) -> None:
        if self._session.game.is_over:
            self._table.say("The game is over: n begins a new one, u takes the last move back.")
            return
        self._table.say(describe(event))
        self.show_status()
        self._table.flash(event.penalty)

    @show.register
    def _(self, event: Won) -> None:
        self._table.say(describe(event))
        if event.plays_on and not self._autoplay.is_on:
            self._table.set_banner(WON.format(tile=event.tile))

    @show.register
    def _(self, event: GameOver) -> None:
        self._autoplay.stop()
        title = "You win!" if self._session.game.has_won else "Game over"
        best = "A new best!" if event.is_best else f"[$text-muted]Best {event.best:,}[/]"
        self._table.board.set_faded(True)
        self._table.set_banner(OVER.format(title=title, score=event.score, best=best))
        self._table.say(describe(event))

    @show.register
    def _(self, event: Hinted) -> None:
        self._table.board.point(event.hint.direction)
        self._table.say(_advice(event.hint))

    def show_compiling(self, compiling: Compiling | None) -> bool:
        """Show how far the compiler is; return whether somebody waited for it before."""
        before, self._compiling = self._compiling, compiling
        if compiling != before:
            self.show_status()
        return before is not None

    def show_status(self) -> None:
        """Show the scores and who plays."""
        game, category = self._session.game, self._session.category
        self._table.show_status(
            Status(
                rules=game.rules.name,
                score=game.score,
                best=self._session.best,
                moves=game.ply,
                help=HELP.get(category, ""),
                player=str(self._autoplay if self._autoplay.is_on else self._compiling or ""),
            )
        )

    def _clear(self, note: str) -> None:
        """Remove what belongs to the position before."""
        self._table.set_banner("")
        self._table.board.point(None)
        self._table.board.set_faded(False)
        self._table.say(note)

    def _show_board(self, transition: motion.Transition) -> None:
        pace = 1.0
        if self._autoplay.is_on:
            pace = min(1.0, self._autoplay.interval / transition.seconds)
        if self.is_animated and pace >= LEAST_PACE:
            self._table.board.play(transition, pace)
        else:
            self._table.board.show(transition.board)


def _advice(hint: Hint) -> str:
    """Return a hint in short lines: the direction, then what the others lose against it."""
    kind = "Quick hint" if hint.instead_of else "Hint"
    others = [(each, loss) for each, loss in hint.losses if each is not hint.direction]
    values = [f"{ARROWS[direction]} {loss_text(loss)}" for direction, loss in others]
    unit = " points" if values and hint.unit is Unit.POINTS else ""
    return "\n".join([f"{kind}: {hint.direction}", *filter(None, ["  ".join(values) + unit])])
