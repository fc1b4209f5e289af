"""Actions that a page sends without waiting for the answers to those before: a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from py2048.server.schema import ActionRejected, NumberedRequest

if TYPE_CHECKING:
    from py2048.server.play.games import OnlineGame


class Pipeline:
    """The chain of actions that one connection sends.

    The first action of a chain carries its number. Those after it take the next number, whatever
    they carry: an attempt that changes nothing takes none, and the page cannot know it ahead. They
    are done only if nothing else has happened in the game since, so nobody plays on a board that
    came about without them. The first one that is rejected breaks the chain.
    """

    def __init__(self) -> None:
        self._chain: int | UnsetType = UNSET
        self._broken: int | UnsetType = UNSET
        self._game: OnlineGame | None = None
        self._version = 0

    def is_broken(self, chain: int | UnsetType) -> bool:
        """Whether the chain is broken: the rest of it is dropped without an answer."""
        return chain is not UNSET and chain == self._broken

    def break_off(self, chain: int | UnsetType) -> None:
        """Drop what still comes of a chain, if it is one."""
        if chain is not UNSET:
            self._broken = chain

    def number(self, action: NumberedRequest, game: OnlineGame) -> int:
        """Return the number of an action in the game.

        Raises:
            ActionRejected: if the game is not as the page expects it (``gap``).
        """
        if action.chain is UNSET:
            return action.number
        if action.chain != self._chain:
            expected = action.number - 1
        else:
            expected = self._version if game is self._game else -1
        if game.version != expected:
            raise ActionRejected("gap", "the game has changed since the action before")
        return game.version + 1

    def done(self, action: NumberedRequest, game: OnlineGame) -> None:
        """Note that an action was done."""
        self._chain, self._game, self._version = action.chain, game, game.version
