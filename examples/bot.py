"""A bot for a py2048 server that uses the JSON API and only the standard library.

Create an account for it on the server's account page, under *Programs*, then::

    PY2048_TOKEN=... python examples/bot.py http://127.0.0.1:2048

It slides down or left while it can, and prints the address of its game.
"""

from __future__ import annotations

import json
import os
import sys
from urllib.request import Request, urlopen

SERVER = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:2048"
RULES = sys.argv[2] if len(sys.argv) > 2 else "classic"


def post(path, **value):
    """Send a JSON object with the program's token; return the answer."""
    headers = {
        "Authorization": f"Bearer {os.environ['PY2048_TOKEN']}",
        "Content-Type": "application/json",
    }
    with urlopen(Request(SERVER + path, json.dumps(value).encode(), headers)) as answer:
        return json.load(answer)


def choose(state):
    """Return the direction to slide in: put your own strategy here."""
    return min(state["legal"], key=["down", "left", "right", "up"].index)


state = post("/api/games", rules=RULES)
game = state["game"]
while state["outcome"] == "playing":
    move = {"number": state["version"] + 1, "direction": choose(state)}
    state = post(f"/api/games/{game}/moves", **move)
print(f"{state['score']} points: {SERVER}/game/{game}")
