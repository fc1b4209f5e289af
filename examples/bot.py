"""A bot for a py2048 server, built on py2048's client.

Create an account for the bot on the server's account page, under *Programs*, then::

    PY2048_TOKEN=... python examples/bot.py http://127.0.0.1:2048 classic
"""

from __future__ import annotations

import os
import sys

from py2048 import Direction
from py2048.client import BotClient
from py2048.core.errors import Py2048Error

ORDER = Direction.DOWN, Direction.LEFT, Direction.RIGHT, Direction.UP


def choose(game):
    """Return the direction to slide in. Put your own strategy here."""
    slides = {each: game.board.slide(each) for each in game.legal_directions()}
    return max(slides, key=lambda each: (slides[each].points, -ORDER.index(each)))


def main(server, rules):
    """Play one game."""
    with BotClient(server, os.environ["PY2048_TOKEN"], say=print) as client:
        game = client.new_game(rules)
        while not game.is_over:
            game.play(choose(game.position))
        print(f"{game.score} points: {game.url}")


if len(sys.argv) != 3 or not os.environ.get("PY2048_TOKEN"):
    print("usage: PY2048_TOKEN=TOKEN python bot.py SERVER RULES", file=sys.stderr)
    sys.exit(2)
try:
    main(*sys.argv[1:])
except Py2048Error as error:
    print(error, file=sys.stderr)
    sys.exit(2)
