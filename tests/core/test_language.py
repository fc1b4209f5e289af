"""How the language of texts is selected."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from threading import Thread

import pytest
from tests.processes import python

from py2048.core import language
from py2048.core.language import number, set_language, use_language

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import messages


def test_english_needs_no_catalogue():
    """English needs neither a catalogue nor gettext."""
    program = (
        "import sys; from py2048.core.language import _, ngettext; _('Undo');"
        "ngettext('{n} a', 'b', 2);"
        "sys.exit('gettext' in sys.modules)"
    )
    assert python("-c", program).returncode == 0


def test_the_process_language_applies_to_every_thread():
    """The process language applies to all threads, and `use_language` only to its own context."""
    seen: list[str] = []
    set_language("pt")
    with use_language("en"):
        thread = Thread(target=lambda: seen.append(language.language()))
        thread.start()
        thread.join()
        seen.append(language.language())
    assert [*seen, language.language()] == ["pt", "en", "pt"]


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("", "en"),
        ("pt", "pt"),
        ("pt-BR,pt;q=0.9,en;q=0.8", "pt"),
        ("en-GB,en;q=0.9,pt;q=0.8", "en"),
        ("fr,de;q=0.9", "en"),
        ("fr,en;q=0.2,pt;q=0.4", "pt"),
        ("pt;q=many,en;q=0.1", "en"),
        ("en,pt;q=0.5", "en"),
    ],
)
def test_accept_language_is_honoured(header, code):
    """`Accept-Language` weights decide; unsupported languages are skipped."""
    assert language.language_of_header(header) == code


def test_the_environment_is_read_as_gettext_reads_it(monkeypatch):
    """`LANGUAGE` precedes `LC_ALL`, `LC_MESSAGES` and `LANG`; empty variables are skipped."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert language.language_of_environment() == "en"
    monkeypatch.setenv("LANG", "pt_PT.UTF-8")
    assert language.language_of_environment() == "pt"
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")
    monkeypatch.setenv("LANGUAGE", "")
    assert language.language_of_environment() == "en"
    monkeypatch.setenv("LANGUAGE", "fr:pt_BR:en")
    assert language.language_of_environment() == "pt"


def test_english_has_the_texts_of_the_source():
    """English has singular and plural as written, by the count; other languages translate."""
    with use_language(language.language_of_header("en-GB")):
        counted = [language.ngettext("{n} move", "{n} moves", count) for count in range(3)]
        assert counted == ["{n} moves", "{n} move", "{n} moves"]
        assert language._("Undo") == "Undo"
    with use_language("pt"):
        assert language._("Undo") != "Undo"
        assert language._("") == ""


def test_numbers_are_formatted_by_language():
    """Thousands and decimals use the separators of the language."""
    assert (number(7412), number(-98.66, 1)) == ("7,412", "-98.7")
    with use_language("pt"):
        assert (number(7412), number(-98.66, 1)) == ("7.412", "-98,7")


@pytest.mark.parametrize("code", set(language.LANGUAGES) - {language.ENGLISH})
def test_every_text_has_its_translation(code):
    """Every text in the sources has a human translation with the same placeholders.

    The compiled files agree with the translators' files; `make messages` updates both.
    """
    found = {message.id: message for message in messages.extracted() if message.id}
    known = {message.id: message for message in messages.read(code) if message.id}
    assert found.keys() == known.keys()
    names = re.compile(r"\{\w+\}|%\(\w+\)s")
    for key, message in known.items():
        assert messages.is_translated(message), key
        one, *_more, last = (key, key) if isinstance(key, str) else key
        told = (message.string,) if isinstance(message.string, str) else message.string
        assert set(names.findall(told[-1])) == set(names.findall(last)), key
        assert set(names.findall(told[0])) <= set(names.findall(one + last)), key


@pytest.mark.parametrize("code", set(language.LANGUAGES) - {language.ENGLISH})
def test_compiled_catalogues_are_current(code):
    """The compiled catalogue and the page scripts contain the translators' texts."""
    written, compiled = messages.read(code), language.catalogue(code)
    for message in written:
        if isinstance(message.id, str) and message.id:
            assert compiled.gettext(message.id) == message.string
        elif message.id:
            told = {compiled.ngettext(*message.id, count) for count in range(200)}
            assert told == set(message.string)
    for part in messages.PARTS:
        script = messages.SCRIPTS / f"messages-{code}{part}.js"
        assert script.read_text(encoding="utf-8") == messages.script_of(written, part)
