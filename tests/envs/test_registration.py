"""Gymnasium knows every preset by an id, even without an import of py2048."""

from __future__ import annotations

import json

import gymnasium
import pytest
from tests.envs.traces import FILE, trace
from tests.processes import python

from py2048 import Rules, list_rules
from py2048.core.errors import MissingExtraError
from py2048.core.installation import install_line
from py2048.envs import environment_ids


def run(code: str) -> str:
    """Return the output of a new Python process."""
    done = python("-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout


TRACES = json.loads(FILE.read_text(encoding="utf-8"))


def test_ids_are_pinned() -> None:
    """Environment ids are public and listed in the presets' order."""
    assert list(environment_ids().values()) == list(TRACES)


@pytest.mark.parametrize("identifier", TRACES)
def test_an_id_is_frozen(identifier: str) -> None:
    """Each id reproduces its golden trace; changes need a new version of the id."""
    assert trace(identifier) == TRACES[identifier]


@pytest.mark.parametrize("rules", list_rules(), ids=lambda rules: rules.name)
def test_each_id_makes_its_rules(rules: Rules) -> None:
    """`make` and `make_vec` play the preset in the id."""
    identifier = environment_ids()[rules.name]
    env = gymnasium.make(identifier)
    assert env.unwrapped.rules == rules
    assert env.observation_space.shape == rules.shape
    vector = gymnasium.make_vec(identifier, num_envs=3)
    assert vector.rules == rules
    assert vector.observation_space.shape == (3, *rules.shape)


def test_gymnasium_finds_the_package_by_itself() -> None:
    """``gymnasium.make('py2048.envs:…')`` needs no import of py2048."""
    code = "import gymnasium; print(gymnasium.make('py2048.envs:py2048/Classic-v0'))"
    assert run(code) == "<GameEnv<py2048/Classic-v0>>\n"


def test_a_spec_makes_the_environment_again() -> None:
    """A spec survives JSON and makes the same environment."""
    env = gymnasium.make("py2048/Classic-v0", reward="log", illegal="terminate")
    spec = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    again = gymnasium.make(spec)
    first, second = env.reset(seed=3)[0], again.reset(seed=3)[0]
    assert (first == second).all()
    assert again.unwrapped.spec.kwargs["illegal"] == "terminate"


def test_without_gymnasium_the_extra_is_named() -> None:
    """Without Gymnasium, functions work and classes name the extra."""
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'gymnasium' else find(name, *rest)\n"
        "import py2048, py2048.envs\n"
        "from py2048.envs import functional\n"
        "print(functional.reset(py2048.get_rules(), [1]).shape)\n"
        "from py2048.core.errors import MissingExtraError\n"
        "try: py2048.envs.GameEnv\n"
        "except MissingExtraError as error: print(error)"
    )
    assert run(code).splitlines() == [
        "(1, 4, 4)",
        "py2048.envs.GameEnv needs gymnasium, which is not installed: " + install_line("rl"),
    ]
    assert issubclass(MissingExtraError, ImportError)
