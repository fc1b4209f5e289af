"""Messages name the value in one line and suggest what would be right."""

from __future__ import annotations

import pytest

from py2048.core import errors
from py2048.core.errors import (
    ClientError,
    MissingExtraError,
    RecordError,
    StorageError,
    did_you_mean,
    extra_for,
    os_errors_as,
    shown,
    unknown,
)
from py2048.core.installation import install_line


def test_values_are_quoted_in_one_short_line():
    """A value is shown as its `repr`, in one line of at most 80 characters and an ellipsis."""
    assert shown("a\tb") == r"'a\tb'"
    assert shown([1, 2]) == "[1, 2]"
    assert shown("x" * 78) == f"'{'x' * 78}'"
    assert shown("x" * 79) == f"'{'x' * 79}…"
    assert shown(10**5000) == "a value with too many digits (int)"

    class Lines:
        def __repr__(self) -> str:
            return "two\n  lines"

    assert shown(Lines()) == "two lines"


def test_the_closest_word_is_suggested():
    """Otherwise the caller's text or all known words follow, in alphabetical order."""
    assert did_you_mean("lft", ["right", "left"]) == "; did you mean 'left'?"
    assert did_you_mean("zzz", ["b", "a"]) == "; known: a, b"
    assert did_you_mean("zzz", ["b", "a"], ": ask") == ": ask"
    assert did_you_mean("zzz", []) == "; there are none"
    assert unknown("lft", ["left"]) == "'lft'; did you mean 'left'?"
    assert unknown(None, ["left"]) == "None; known: left"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied", "x"), "Permission denied"),
        (OSError("odd"), "odd"),
        (ValueError("embedded null byte"), "embedded null byte"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no surrogates"), r".*no surrogates"),
    ],
)
def test_errors_of_paths_name_what_failed_and_why(error, reason):
    """Errors of the operating system and of impossible paths become one library error."""
    with (
        pytest.raises(RecordError, match=f"^cannot read x: {reason}$"),
        os_errors_as(RecordError, "cannot read x"),
    ):
        raise error


def test_other_errors_pass_unchanged():
    """A `ValueError` that is not about a path is a bug and is not converted."""
    with pytest.raises(ValueError, match=r"^bug$"), os_errors_as(RecordError, "cannot read x"):
        raise ValueError("bug")


def test_a_missing_library_names_the_command_that_installs_it():
    """Only libraries of others are optional: a missing module of py2048 is a bug."""
    with pytest.raises(MissingExtraError) as caught, extra_for("Sound", "sound"):
        raise ModuleNotFoundError(name="bell")
    line = install_line("sound")
    assert str(caught.value) == f"Sound needs bell, which is not installed: {line}"
    with pytest.raises(ModuleNotFoundError, match=r"^gone$"), extra_for("Sound", "sound"):
        raise ModuleNotFoundError("gone", name="py2048.gone")


def test_numba_is_asked_for_only_where_it_is_missing(monkeypatch):
    """The error has the command that installs it."""
    monkeypatch.setattr(errors, "find_spec", lambda _: object())
    assert errors.missing_compiler() == ""
    errors.need_compiler("Training")
    monkeypatch.setattr(errors, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError) as caught:
        errors.need_compiler("Training")
    assert str(caught.value) == f"Training needs Numba: {install_line('fast')}"


def test_errors_carry_what_a_program_needs():
    """Callers tell failures apart without parsing messages."""
    assert vars(ClientError("x")) == {"status": 0, "reason": "", "wait": 0.0}
    assert (StorageError("x").kind, StorageError("x", "full").kind) == ("", "full")
