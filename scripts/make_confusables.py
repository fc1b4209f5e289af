"""Make the table of letters that look alike from Unicode's ``confusables.txt`` (UTS #39).

    python scripts/make_confusables.py confusables.txt

Kept is what can stand in a name after normalization: letters, digits and marks. A newer table
changes which names look alike, so it comes with a migration that computes them again.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "src/py2048/storage/confusables.txt"
_KINDS = {"L", "M", "N", "C"}  # C: letters that this Python does not know yet


def main(source: Path) -> None:
    """Write the table, below its head of comments, which stays."""
    lines = source.read_text(encoding="utf-8-sig").splitlines()
    head = [line for line in TABLE.read_text("ascii").splitlines() if line.startswith("#")]
    by_prototype = defaultdict(list)
    for letter, prototype in sorted(_pairs(lines)):
        by_prototype[prototype].append(f"{ord(letter):04X}")
    table = (
        f"{' '.join(f'{ord(each):04X}' for each in prototype)} < {' '.join(letters)}"
        for prototype, letters in sorted(by_prototype.items())
    )
    TABLE.write_text("\n".join([*head, *table, ""]), "ascii")


def _pairs(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        fields = line.partition("#")[0].split(";")
        if len(fields) < 3:
            continue
        letter, prototype = ("".join(chr(int(code, 16)) for code in each.split())
                             for each in fields[:2])  # fmt: skip
        is_normal = unicodedata.normalize("NFKD", letter) == letter
        if is_normal and unicodedata.category(letter)[0] in _KINDS:
            yield letter, prototype


if __name__ == "__main__":
    main(Path(sys.argv[1]))
