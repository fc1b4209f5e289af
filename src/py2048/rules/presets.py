"""The presets: every rule set that py2048 knows by name, in one table of texts.

Menus, documentation and tests read this table through `list_rules`; nothing else knows a preset
by name. The grammar is that of `py2048.rules.text`; what a line leaves out is as in ``classic``.
The five course presets follow ``docs/courses``; below them are the community's boards, whose
target is a tile that a good player reaches. All but comp1127 play on past it.
"""

from __future__ import annotations

PRESETS = {
    "classic": "size=4x4,start=2,spawn=2:9+4:1,merging=once,scoring=merges,target=2048,end=stuck",
    "comp1127": "spawn=2:96+4:5,merging=cascade,end=target",
    "cmput175": "start=2x2:1,spawn=2:3+4:1",
    "cits1401": "size=5x5,start=1..25x2:1,spawn=edge:2,scoring=moves:1:-1,target=none",
    "ist": "spawn=2:4+4:1",
    "qsan_qarut": "start=1,spawn=2:1+4:1,scoring=sum",
    "2x4": "size=2x4,target=256",
    "3x3": "size=3x3,target=512",
    "3x4": "size=3x4,target=1024",
    "5x5": "size=5x5",
    "6x6": "size=6x6",
    "7x7": "size=7x7",
    "8x8": "size=8x8",
}
