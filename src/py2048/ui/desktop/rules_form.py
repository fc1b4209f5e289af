"""Rules of one's own as the fields of a form. Knows no Tk."""

from __future__ import annotations

from dataclasses import dataclass

from py2048.errors import RulesError
from py2048.rules import EdgeSpawn, Rules

NAME = "own"
MERGING = {"a tile merges once a move": "once", "merged tiles merge on": "cascade"}
SCORING = {
    "the new tile of each merge": "merges",
    "1 a move, -1 for an illegal one": "moves:1:-1",
    "the sum of the board": "sum",
}


@dataclass
class RulesForm:
    """What a person fills in; every field is a text.

    Attributes:
        name: the name under which best scores are kept.
        rows: the number of rows.
        columns: the number of columns.
        start: the number of start tiles, such as ``2`` or ``1..25``, with weights ``2x2:1``.
        spawn: the weights of new tiles such as ``2:9+4:1``, or ``edge:2``.
        merging: a value of `MERGING`, or the like from the rules' grammar.
        scoring: a value of `SCORING`, or the like.
        target: the tile that wins, or ``none``.
        ends: whether the target ends the game.
    """

    name: str
    rows: str
    columns: str
    start: str
    spawn: str
    merging: str
    scoring: str
    target: str
    ends: bool

    @classmethod
    def of(cls, rules: Rules) -> RulesForm:
        """Return the form filled in with `rules`."""
        return cls(
            NAME,
            str(rules.rows),
            str(rules.columns),
            str(rules.start),
            str(rules.spawn),
            rules.merging.value,
            str(rules.scoring),
            "none" if rules.target is None else str(rules.target),
            rules.ends_at_target,
        )

    @property
    def text(self) -> str:
        """The rules in the grammar that records and the command line use."""
        changes = {
            "size": f"{self.rows.strip()}x{self.columns.strip()}",
            "start": self.start.strip(),
            "spawn": self.spawn.strip().lower(),
            "merging": self.merging,
            "scoring": self.scoring,
            "target": self.target.strip().lower() or "none",
            "end": "target" if self.ends else "stuck",
        }
        return f"{self.name.strip()}:" + ",".join(
            f"{key}={value}" for key, value in changes.items()
        )

    def rules(self) -> Rules:
        """Return the rules.

        Raises:
            RulesError: if a field makes no rules; the message names the value and the fix.
        """
        return Rules.parse(self.text)

    @property
    def trouble(self) -> str:
        """What is wrong with the fields, or an empty text."""
        try:
            self.rules()
        except RulesError as error:
            return str(error)
        return ""

    @property
    def spawns_at_edge(self) -> bool:
        """Whether new tiles come at the edge that was left behind."""
        try:
            return isinstance(self.rules().spawn, EdgeSpawn)
        except RulesError:
            return False
