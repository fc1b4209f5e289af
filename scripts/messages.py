"""Update translations from the sources (`make messages`).

The script extracts the marked texts from Python, templates and JavaScript, and adds new texts to
`locale/<code>/LC_MESSAGES/py2048.po` for translators. Then it compiles the catalogues and writes
the texts for JavaScript. Texts of modules that the play page preloads are in
`static/js/messages-<code>.js`, and all others are in `static/js/messages-<code>-later.js`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir, extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from zxcvbn import feedback

from py2048.cli.app import help_texts
from py2048.core.language import CATALOGUES, ENGLISH, LANGUAGES
from py2048.courses import COURSES
from py2048.players.registry import describe_player, list_players
from py2048.presentation.actions import HELP_SECTIONS

PACKAGE = CATALOGUES.parent
SCRIPTS = PACKAGE / "server" / "static" / "js"
PARTS = "", "-later"
_PLAY = (PACKAGE / "server" / "templates" / "play.html").read_text(encoding="utf-8")
_FIRST = {"play", "page", *json.loads(_PLAY.split("for module in ")[1].split(" %}")[0])}
_NO_DATE = datetime(2026, 11, 27, tzinfo=UTC)
_METHODS = [("**/messages-*.js", "ignore"), ("**.py", "python")]
_METHODS += [("**/templates/**.html", "jinja2"), ("**.js", "javascript")]
_OPTIONS = {"**.js": {"parse_template_string": "true"}}
_OPTIONS |= {"**/templates/**.html": {"newstyle_gettext": "true", "trimmed": "true"}}


def extracted() -> Catalog:
    """Return the texts in the sources, with the files that contain them."""
    found = Catalog(creation_date=_NO_DATE)  # Files change only if texts change.
    for name, _line, text, comments, context in extract_from_dir(
        PACKAGE, _METHODS, _OPTIONS, comment_tags=["translators:"], strip_comment_tags=True
    ):
        found.add(text, None, [(name, 0)], auto_comments=comments, context=context)
    for name, texts in _unmarked():
        for text in filter(None, texts):
            found.add(text, None, [(name, 0)])
    return found


def _unmarked() -> Iterator[tuple[str, Iterable[str]]]:
    """Yield texts that no call marks, and the file that displays each of these texts."""
    advice = extract_from_file("python", feedback.__file__)
    yield "server/site/accounts.py", (str(text) for _line, text, *_ in advice)  # on passwords
    ist = COURSES["ist"].grading()  # the course in Portuguese
    for task in ist.tasks:
        checks = (check.title for check in task.checks)
        yield "courses/ist/tasks.py", (task.title, task.asked, *checks, ist.not_graded)
    for action in (each for _title, actions in HELP_SECTIONS for each in actions):
        yield "presentation/actions.py", (action.menu, action.title, action.label, action.help)
    of_typer = "Arguments", "Options", "default: {default}", "required"
    yield "cli/app.py", (*of_typer, *(text for *_, text in help_texts()))
    summaries = (describe_player(name).partition(" Options: ")[0] for name in list_players())
    yield "app/commands/information.py", summaries


def po_file(code: str) -> Path:
    """Return the path of a language's translation file."""
    return CATALOGUES / code / "LC_MESSAGES" / "py2048.po"


def read(code: str) -> Catalog:
    """Read a language's translations."""
    with po_file(code).open("rb") as file:
        return read_po(file, locale=code, domain="py2048")


def is_translated(message: Message) -> bool:
    """Return whether a person has translated all forms of a message."""
    texts = message.string if isinstance(message.string, tuple) else (message.string,)
    return all(texts) and not message.fuzzy


def script_of(catalogue: Catalog, part: str) -> str:
    """Return one of the two scripts with translations for pages."""
    lines = [f'"": (n) => Number({catalogue.plural_expr}),']
    for message in catalogue:
        names = {Path(name).stem for name, _line in message.locations if name.endswith(".js")}
        if names and is_translated(message) and bool(part) == _FIRST.isdisjoint(names):
            key = message.id if isinstance(message.id, str) else message.id[0]
            lines.append(f"{json.dumps(key)}: {json.dumps(message.string, ensure_ascii=False)},")
    return "\n".join(["Object.assign((globalThis.messages ??= {}), {", *sorted(lines), "});", ""])


def update(code: str, template: Catalog) -> int:
    """Update a language's files; return the number of untranslated texts."""
    catalogue = read(code)
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    with po_file(code).open("wb") as file:
        write_po(file, catalogue, width=100, sort_output=True, include_lineno=False)
    with po_file(code).with_suffix(".mo").open("wb") as file:
        write_mo(file, catalogue)
    for part in PARTS:
        (SCRIPTS / f"messages-{code}{part}.js").write_text(script_of(catalogue, part), "utf-8")
    return sum(bool(message.id) and not is_translated(message) for message in catalogue)


def main() -> None:
    """Update every language and print the number of untranslated texts."""
    template = extracted()
    for code in LANGUAGES.keys() - {ENGLISH}:
        print(f"{code}: {update(code, template)} of {len(template)} texts are untranslated")


if __name__ == "__main__":
    main()
