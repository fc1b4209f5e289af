"""The JSON API for programs: games, boards, hints, and its description."""
