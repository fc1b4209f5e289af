"""Names: when two are the same, and when they only look the same."""

from __future__ import annotations

import unicodedata

# Letters of other alphabets (Cyrillic, Greek, Armenian, phonetic) by the Latin letter or the
# digit for which they are taken, after Unicode's confusable characters (UTS #39).
_LOOK_ALIKES = {
    "A": "\u0410\u0391", "B": "\u0412\u0392", "C": "\u0421", "E": "\u0415\u0395",
    "H": "\u041d\u0397", "I": "\u0406\u0399", "J": "\u0408", "K": "\u041a\u039a",
    "M": "\u041c\u039c", "N": "\u039d", "O": "\u041e\u039f\u0555", "P": "\u0420\u03a1",
    "S": "\u0405\u054f", "T": "\u0422\u03a4", "U": "\u054d", "V": "\u0474", "X": "\u0425\u03a7",
    "Y": "\u0423\u03a5", "Z": "\u0396", "a": "\u0430\u03b1\u0251", "c": "\u0441\u03f2",
    "d": "\u0501", "e": "\u0435", "g": "\u0261\u0581", "h": "\u04bb\u0570",
    "i": "\u0456\u0131\u03b9", "j": "\u0458", "k": "\u043a\u03ba", "l": "\u04cf",
    "n": "\u03b7\u0578", "o": "\u043e\u03bf\u03c3\u0585", "p": "\u0440\u03c1",
    "q": "\u051b\u0566", "s": "\u0455", "u": "\u03c5\u057d", "v": "\u03bd\u0475",
    "w": "\u051d\u03c9", "x": "\u0445\u03c7", "y": "\u0443\u03b3", "3": "\u0417\u0437\u01b7",
    "6": "\u0431",
}  # fmt: skip
_SAME = {"I": "l", "1": "l", "0": "O"}
_PLAIN = str.maketrans(
    {seen: _SAME.get(plain, plain) for plain, many in _LOOK_ALIKES.items() for seen in many} | _SAME
)


def name_key(name: str) -> str:
    """Return what two spellings of one name have in common: case, width and spaces aside."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def looks_of(name: str) -> str:
    """Return what names have in common that people mistake for each other, as *Al* and *A1*."""
    return name_key(unicodedata.normalize("NFKC", name).translate(_PLAIN))
