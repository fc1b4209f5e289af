"""The ids under which Gymnasium knows the environments: one for each preset."""

from __future__ import annotations

from py2048.rules import Rules, list_rules

NAMESPACE = "py2048"
VERSION = 0


def environment_id(rules: Rules) -> str:
    """Return the id of a preset's environment: ``qsan_qarut`` is ``py2048/QsanQarut-v0``."""
    name = "".join(part.capitalize() for part in rules.name.split("_"))
    return f"{NAMESPACE}/{name}-v{VERSION}"


def environment_ids() -> dict[str, str]:
    """Return the id of every preset's environment, by the preset's name."""
    return {rules.name: environment_id(rules) for rules in list_rules()}


def register_all() -> None:
    """Register every preset with Gymnasium, once.

    The environments check the order of their calls themselves and the tests hold them to
    Gymnasium's checker, so `gymnasium.make` wraps them in neither unless it is asked to.
    """
    import gymnasium

    for name, identifier in environment_ids().items():
        if identifier not in gymnasium.registry:
            gymnasium.register(
                identifier,
                entry_point="py2048.envs.single:GameEnv",
                vector_entry_point="py2048.envs.vector:GameVectorEnv",
                order_enforce=False,
                disable_env_checker=True,
                kwargs={"rules": name},
            )
