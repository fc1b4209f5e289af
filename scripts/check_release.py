"""Check that a tag can be released, and print its release notes.

``check_release.py v0.2.0`` compares the tag with ``__version__``, requires ``[project.urls]``,
checks that the links of ``README.md`` exist, and prints the section of ``CHANGELOG.md`` for the
version. If there are problems, the script prints a line for each problem and exits with status 1.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def release_notes(changelog: str, version: str) -> str:
    """Return the changelog section of a version, or "" if there is none."""
    heading = rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$"
    found = re.search(rf"{heading}\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """Return the reasons why `tag` cannot be released."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = (root / "src" / "py2048" / "__init__.py").read_text(encoding="utf-8")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    version = tag.removeprefix("v")
    found = []
    if f'\n__version__ = "{version}"\n' not in module:
        found.append(f"py2048/__init__.py does not say {version}")
    if not release_notes(changelog, version):
        found.append(f"CHANGELOG.md has no section '## {version} - YYYY-MM-DD'")
    if "Source" not in project.get("urls", {}):
        found.append("pyproject.toml has no [project.urls] Source: name the public repository")
    readme = (root / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"""(?:\]\(|src=")(?![a-z]+:|#)([^)"#]+)""", readme)
    lost = [each for each in links if not (root / each).exists()]
    return found + [f"README.md links to {each}, which does not exist" for each in lost]


def main(arguments: list[str]) -> None:
    """Print the release notes, or exit with the problems."""
    if len(arguments) != 1 or not re.fullmatch(r"v\d+\.\d+\.\d+\w*", arguments[0]):
        sys.exit("usage: check_release.py vX.Y.Z")
    if found := problems(arguments[0]):
        sys.exit("\n".join(found))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    print(release_notes(changelog, arguments[0].removeprefix("v")))


if __name__ == "__main__":
    main(sys.argv[1:])
