"""What other libraries' 2048 does that the rules do not: random legal games, held to our board.

Usage: peer_faults.py PEER [GAMES]

PEER is openspiel, gymnasium-2048, pgx or jumanji, installed beside py2048 in an environment of its
own. Its random legal games (GAMES, 300 by default) are compared, decision by decision, with
`py2048.Board`: which moves it calls legal, and what a move leaves. Then all but openspiel, which
takes neither, get an illegal move, and two tiles of 32768 and of 65536 to merge.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import random
import sys
from typing import Any

from py2048 import Board, Direction

COLUMN = "{} . . . / {} . . . / . . . . / . . 2 ."


class Peer:
    """A game of another library: its board, what it calls legal, its moves."""

    package: str
    order: str
    """Its actions by our letters."""

    def start(self, seed: int) -> None:
        """Start a game."""
        raise NotImplementedError

    @property
    def rows(self) -> list[list[int]]:
        """The tiles."""
        raise NotImplementedError

    @property
    def mask(self) -> list[bool] | None:
        """Which actions it calls legal, if it says so."""
        raise NotImplementedError

    def play(self, action: int) -> bool:
        """Play; return whether it calls the game over."""
        raise NotImplementedError

    def put(self, board: Board) -> None:
        """Set a board up."""
        raise NotImplementedError


def exponents(board: Board) -> list[list[int]]:
    """Return a board in the form that most libraries keep."""
    return [[max(0, tile.bit_length() - 1) for tile in row] for row in board.rows]


def tiles(cells: Any) -> list[list[int]]:
    """Return the tiles of a board of exponents."""
    return [[1 << int(cell) if cell else 0 for cell in row] for row in cells]


class OpenSpiel(Peer):
    """OpenSpiel's, whose chance nodes are drawn here."""

    package, order = "open_spiel", "URDL"

    def start(self, seed: int) -> None:
        """Start a game."""
        self._random = random.Random(seed)
        self._state = importlib.import_module("pyspiel").load_game("2048").new_initial_state()
        self._draw()

    @property
    def rows(self) -> list[list[int]]:
        """The tiles."""
        return [list(map(int, line.split())) for line in str(self._state).strip().splitlines()]

    @property
    def mask(self) -> list[bool]:
        """Which actions it calls legal."""
        return [action in self._state.legal_actions() for action in range(4)]

    def play(self, action: int) -> bool:
        """Play; return whether it calls the game over."""
        self._state.apply_action(action)
        self._draw()
        return bool(self._state.is_terminal())

    def _draw(self) -> None:
        while self._state.is_chance_node():
            outcomes, chances = zip(*self._state.chance_outcomes(), strict=True)
            self._state.apply_action(self._random.choices(outcomes, chances)[0])


class Gymnasium2048(Peer):
    """The environment of the package gymnasium-2048."""

    package, order = "gymnasium_2048", "URDL"

    def start(self, seed: int) -> None:
        """Start a game."""
        module = importlib.import_module("gymnasium_2048.envs.twenty_forty_eight")
        self._env = module.TwentyFortyEightEnv()
        self._env.reset(seed=seed)

    mask = None
    rows = property(lambda self: tiles(self._env.board))

    def play(self, action: int) -> bool:
        """Play; return whether it calls the game over."""
        return bool(self._env.step(action)[2])

    def put(self, board: Board) -> None:
        """Set a board up."""
        self._env.board[:] = exponents(board)


class Pgx(Peer):
    """Pgx's, compiled by JAX."""

    package, order = "pgx", "LURD"

    def start(self, seed: int) -> None:
        """Start a game."""
        jax: Any = importlib.import_module("jax")
        if not hasattr(self, "_env"):
            self._env = importlib.import_module("pgx").make("2048")
            self._step, self._split = jax.jit(self._env.step), jax.jit(jax.random.split)
        self._key = jax.random.PRNGKey(seed)
        self._state = self._env.init(self._key)

    rows = property(lambda self: tiles(self._state._board.reshape(4, 4).tolist()))  # noqa: SLF001
    mask = property(lambda self: self._state.legal_action_mask.tolist())

    def play(self, action: int) -> bool:
        """Play; return whether it calls the game over."""
        self._key, key = self._split(self._key)
        self._state = self._step(self._state, action, key)
        return bool(self._state.terminated)

    def put(self, board: Board) -> None:
        """Set a board up."""
        numpy: Any = importlib.import_module("jax.numpy")
        cells = numpy.array(exponents(board), numpy.int32).ravel()
        self._state = self._state.replace(_board=cells, legal_action_mask=numpy.ones(4, bool))


class Jumanji(Peer):
    """Jumanji's, compiled by JAX; its boards are tiles' exponents."""

    package, order = "jumanji", "URDL"

    def start(self, seed: int) -> None:
        """Start a game."""
        jax: Any = importlib.import_module("jax")
        if not hasattr(self, "_env"):
            self._env = importlib.import_module("jumanji").make("Game2048-v1")
            self._step, self._reset = jax.jit(self._env.step), jax.jit(self._env.reset)
        self._state, _ = self._reset(jax.random.PRNGKey(seed))

    rows = property(lambda self: tiles(self._state.board.tolist()))
    mask = property(lambda self: self._state.action_mask.tolist())

    def play(self, action: int) -> bool:
        """Play; return whether it calls the game over."""
        self._state, step = self._step(self._state, action)
        return bool(step.last())

    def put(self, board: Board) -> None:
        """Set a board up."""
        numpy: Any = importlib.import_module("jax.numpy")
        cells = numpy.array(exponents(board), numpy.int32)
        self._state = self._state.replace(board=cells, action_mask=numpy.ones(4, bool))


PEERS = {
    "openspiel": OpenSpiel,
    "gymnasium-2048": Gymnasium2048,
    "pgx": Pgx,
    "jumanji": Jumanji,
}


def one_more_tile(before: Board, after: Board) -> bool:
    """Return whether `after` is `before` with a 2 or a 4 on an empty cell."""
    pairs = [
        (one, other)
        for row, seen in zip(before.rows, after.rows, strict=True)
        for one, other in zip(row, seen, strict=True)
        if one != other
    ]
    return len(pairs) == 1 and pairs[0] in {(0, 2), (0, 4)}


def compare_games(peer: Peer, games: int) -> None:
    """Print how often the games differ from ours."""
    draw, example, starts = random.Random(0), "", set()
    counts = dict.fromkeys(("decisions", "masks", "left out", "moves"), 0)
    for seed in range(games):
        peer.start(seed)
        starts.add(sum(tile > 0 for row in peer.rows for tile in row))
        over = False
        while not over:
            board = Board.from_rows(peer.rows)
            legal = [Direction.parse(each) in board.legal_directions() for each in peer.order]
            if not any(legal):
                print(f"seed {seed}: the game continues without a legal move")
                break
            counts["decisions"] += 1
            if peer.mask is not None and peer.mask != legal:
                counts["masks"] += 1
                counts["left out"] += all(
                    right >= said for right, said in zip(legal, peer.mask, strict=True)
                )
                example = example or f"{' / '.join(str(board).splitlines())}: {peer.mask}, {legal}"
            playable = [a for a in range(4) if legal[a] and (peer.mask is None or peer.mask[a])]
            action = draw.choice(playable)
            over = peer.play(action)
            moved = board.slide(peer.order[action]).board
            counts["moves"] += not one_more_tile(moved, Board.from_rows(peer.rows))
    print(
        f"{games} games of {starts} tiles at the start: {counts}; "
        f"wrong masks {counts['masks'] / counts['decisions']:.2%}"
    )
    if example:
        print(f"the first mask in the order {peer.order}, theirs and right: {example}")


def try_illegal(peer: Peer) -> None:
    """Print what the first move that is illegal in a game does."""
    peer.start(0)
    while len(legal := (before := Board.from_rows(peer.rows)).legal_directions()) == 4:
        peer.play(0)
    action = next(a for a in range(4) if Direction.parse(peer.order[a]) not in legal)
    over, after = peer.play(action), Board.from_rows(peer.rows)
    changed = "the same board" if before == after else f"{before.rows} to {after.rows}"
    print("an illegal move:", changed, "and the game is over" if over else "and the game continues")


def try_large(peer: Peer, tile: int) -> None:
    """Print what merging two large tiles does."""
    peer.start(0)
    peer.put(Board.parse(COLUMN.format(tile, tile)))
    try:
        peer.play(peer.order.index("U"))
        print(f"two tiles of {tile}:", Board.from_rows(peer.rows).rows)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        print(f"two tiles of {tile}: {type(error).__name__}: {error}")


def main() -> None:
    """Print what is found."""
    name, games = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    peer = PEERS[name]()
    print(name, importlib.metadata.version(peer.package))
    compare_games(peer, games)
    if name != "openspiel":
        try_illegal(peer)
        for tile in (32768, 65536):
            try_large(peer, tile)


if __name__ == "__main__":
    main()
