"""Update translations from the sources (`make messages`).

Extracts the marked texts from Python, templates and JavaScript, and adds new texts to
`locale/<code>/LC_MESSAGES/py2048.po` for translators. Then compiles the catalogues, and writes the
texts for JavaScript to `static/js/messages-<code>.js`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir, extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from zxcvbn import feedback

from py2048.core.language import CATALOGUES, ENGLISH, LANGUAGES
from py2048.courses import COURSES
from py2048.presentation.actions import HELP_SECTIONS

PACKAGE = CATALOGUES.parent
SCRIPTS = PACKAGE / "server" / "static" / "js"
_NO_DATE = datetime(2026, 11, 27, tzinfo=UTC)
_METHODS = [
    ("**/messages-*.js", "ignore"),
    ("**.py", "python"),
    ("**/templates/**.html", "jinja2"),
    ("**.js", "javascript"),
]
_OPTIONS = {
    "**/templates/**.html": {"newstyle_gettext": "true", "trimmed": "true"},
    "**.js": {"parse_template_string": "true"},
}


def extracted() -> Catalog:
    """Return the texts in the sources, with the files that contain them."""
    found = Catalog(creation_date=_NO_DATE)  # without a date, files change only if texts change
    for name, _line, text, comments, context in extract_from_dir(
        PACKAGE, _METHODS, _OPTIONS, comment_tags=["translators:"], strip_comment_tags=True
    ):
        found.add(text, None, [(name, 0)], auto_comments=comments, context=context)
    hints = extract_from_file("python", feedback.__file__)  # password advice
    for _line, text, _comments, _context in hints:
        found.add(text, None, [("server/site/accounts.py", 0)])
    for task in COURSES["ist"].grading().tasks:  # the course in Portuguese
        for text in (task.title, task.asked, *(check.title for check in task.checks)):
            found.add(text, None, [("courses/ist/tasks.py", 0)])
    found.add(COURSES["ist"].grading().not_graded, None, [("courses/ist/tasks.py", 0)])
    for _title, actions in HELP_SECTIONS:  # a table, whose texts are not marked by calls
        for action in actions:
            for text in filter(None, (action.menu, action.title, action.label, action.help)):
                found.add(text, None, [("presentation/actions.py", 0)])
    return found


def po_file(code: str) -> Path:
    """Return the path of a language's translation file."""
    return CATALOGUES / code / "LC_MESSAGES" / "py2048.po"


def read(code: str) -> Catalog:
    """Read a language's translations."""
    with po_file(code).open("rb") as file:
        return read_po(file, locale=code, domain="py2048")


def is_translated(message: Message) -> bool:
    """Return whether all forms of a message have been translated by a person."""
    texts = message.string if isinstance(message.string, tuple) else (message.string,)
    return all(texts) and not message.fuzzy


def script_of(catalogue: Catalog) -> str:
    """Return a JavaScript module with the translations that pages use."""
    texts = {
        message.id[0] if message.pluralizable else message.id: message.string
        for message in catalogue
        if message.id
        and is_translated(message)
        and any(name.endswith(".js") for name, _line in message.locations)
    }
    lines = [f"{json.dumps(text)}: {_as_json(new)}," for text, new in sorted(texts.items())]
    plural = f'"": (n) => Number({catalogue.plural_expr}),'
    return "\n".join(["globalThis.messages = {", plural, *lines, "};", ""])


def _as_json(translation: object) -> str:
    return json.dumps(translation, ensure_ascii=False)


def update(code: str, template: Catalog) -> int:
    """Update a language's files; return the number of untranslated texts."""
    catalogue = read(code)
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    path = po_file(code)
    with path.open("wb") as file:
        write_po(file, catalogue, width=100, sort_output=True, include_lineno=False)
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalogue)
    (SCRIPTS / f"messages-{code}.js").write_text(script_of(catalogue), encoding="utf-8")
    return sum(bool(message.id) and not is_translated(message) for message in catalogue)


def main() -> None:
    """Update every language and print the number of untranslated texts."""
    template = extracted()
    for code in LANGUAGES.keys() - {ENGLISH}:
        print(f"{code}: {update(code, template)} of {len(template)} texts are untranslated")


if __name__ == "__main__":
    main()
