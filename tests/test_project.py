"""Pages, packages and releases are complete and consistent."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import py2048

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "docs" / "_extensions")]

import api_pages  # noqa: E402 - they are not packages
import check_release  # noqa: E402
import hatch_build  # noqa: E402


def test_each_library_layer_has_an_api_page():
    """The API reference has a page for every layer that programs build on, including `lab`."""
    documented = api_pages.documented_layers()
    assert "lab" in documented
    assert set(documented) == set(api_pages.layers()) - api_pages.WITHOUT_PAGES


def test_architecture_md_names_what_exists():
    """ARCHITECTURE.md lists exactly the existing rooms, and every file that it names exists."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page[page.index("| room |") : page.index("## Dependency rules")]
    first_column = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    named = {name for cell in first_column for name in re.findall(r"`(\w+)`", cell)}
    assert named == set(api_pages.layers()) - {"__main__"}
    folder, missing = ROOT, []
    for name in re.findall(r"`([\w./-]+\.(?:py|js|cu|md|toml))`", page):
        places = [base / name for base in (ROOT, ROOT / "src" / "py2048", folder)]
        found = next((place for place in places if place.exists()), None)
        if found is None and "NAME" not in name:
            missing.append(name)
        folder = found.parent if found else folder
    assert not missing


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that is ready to release version 1.2.0."""
    (tmp_path / "pyproject.toml").write_text(
        '[project]\n[project.urls]\nSource = "https://example.org/py2048"\n'
    )
    module = tmp_path / "src" / "py2048" / "__init__.py"
    module.parent.mkdir(parents=True)
    module.write_text('"""2048."""\n\n__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(
        "# Log\n\n## 1.2.0 - 2026-12-01\n\nNew.\n\n## 1.1.0 - 2026-11-30\n\nOld.\n"
    )
    (tmp_path / "README.md").write_text("![Board](board.png) [Log](CHANGELOG.md#new)")
    (tmp_path / "board.png").touch()
    return tmp_path


UV = """\
#!/bin/sh
[ "$1" = venv ] || exit 0
mkdir -p .venv/bin
ln -s "$PYTHON" .venv/bin/python
printf '#!%s/.venv/bin/python\\nimport sys; print(*sys.argv)\\n' "$(pwd -P)" >.venv/bin/py2048
chmod +x .venv/bin/py2048
"""
"""A `uv` that installs nothing but a `py2048` that prints its arguments."""


@pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for bash")
@pytest.mark.skipif(not shutil.which("make"), reason="make is not there")
def test_a_broken_environment_is_rebuilt(tmp_path):
    """The environment is rebuilt if the checkout moved or Python is gone, and otherwise kept."""
    checkout, uv = tmp_path / "here", tmp_path / "bin" / "uv"
    shutil.copytree(ROOT / "scripts", checkout / "scripts")
    shutil.copy(ROOT / "Makefile", checkout)
    (checkout / "weights").mkdir()
    for folder in (checkout, checkout / "weights"):
        (folder / "pyproject.toml").touch()
    uv.parent.mkdir()
    uv.write_text(UV)
    uv.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    path = f"{uv.parent}{os.pathsep}{os.environ['PATH']}"

    def makes(checkout: Path) -> bool:
        """Run ``make play`` with options; return whether the environment was rebuilt."""
        command = ["make", "play", f"PYTHON={sys.executable}", "ARGS=--rules 5x5"]
        environment = inherited | {"PATH": path, "PY2048_NO_APT": "1"}
        said = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, check=True
        ).stdout
        assert said.endswith("/py2048 --rules 5x5\n")
        return "making .venv" in said

    assert makes(checkout)
    assert not makes(checkout)
    checkout = checkout.rename(tmp_path / "there")
    assert makes(checkout)
    assert not makes(checkout)
    (checkout / ".venv" / "bin" / "python").unlink()
    assert makes(checkout)


def test_a_release_needs_one_version_everywhere_and_its_notes(project):
    """A tag is released only if version, changelog and URL agree with it."""
    assert check_release.problems("v1.2.0", project) == []
    found = check_release.problems("v1.3.0", project)
    assert [line.partition(" ")[0] for line in found] == ["py2048/__init__.py", "CHANGELOG.md"]
    (project / "pyproject.toml").write_text("[project]\n")
    assert "[project.urls]" in check_release.problems("v1.2.0", project)[0]


def test_links_of_the_readme_exist_and_are_absolute_on_an_index(project):
    """An index shows README.md elsewhere, where relative links lead nowhere."""
    text = (project / "README.md").read_text()
    assert hatch_build.with_absolute_links(text, "https://x.org/r") == (
        "![Board](https://x.org/r/raw/HEAD/board.png) "
        "[Log](https://x.org/r/blob/HEAD/CHANGELOG.md#new)"
    )
    (project / "board.png").unlink()
    (line,) = check_release.problems("v1.2.0", project)
    assert line == "README.md links to board.png, which does not exist"


def test_workflows_run_tests_that_exist():
    """Every path of tests in a workflow exists."""
    workflows = "".join(path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml"))
    paths = set(re.findall(r"tests/[a-z_/]+(?:\.py)?\b(?!/)", workflows))
    assert len(paths) > 5
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_release_notes_are_the_section_of_the_version(project):
    """Release notes are the text between the version's heading and the next one."""
    changelog = (project / "CHANGELOG.md").read_text()
    assert check_release.release_notes(changelog, "1.2.0") == "New."
    assert check_release.release_notes(changelog, "1.1.0") == "Old."
    assert check_release.release_notes(changelog, "1.1") == ""


def test_imports_are_declared_dependencies():
    """Every imported package is a declared dependency, not just installed by another one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    asked = {re.split(r"[^\w-]", need)[0] for need in needs}
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    names = set(re.findall(r"^ *(?:from|import) (\w+)", text, re.MULTILINE))
    homes = packages_distributions()
    brought = {home.lower().replace("_", "-") for name in names for home in homes.get(name, ())}
    assert brought <= asked | {"py2048", "click"}  # only for types of Click
    assert brought >= {re.split(r"\W", need)[0] for need in project["dependencies"]}


def test_packaging_files_agree_with_the_project():
    """Recipe, manifest, metainfo and citation agree: names, version, date, licence, URL, needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = project.get("urls", {}).get("Source")
    recipe = yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["package"]["name"] == project["name"]
    assert recipe["context"]["version"] == py2048.__version__
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    about = recipe["about"]
    assert (about["license"], about["license_file"]) == (
        project["license"],
        project["license-files"],
    )
    assert (about["summary"], about.get("repository")) == (project["description"], source)
    needs = project["dependencies"] + project["optional-dependencies"]["fast"]
    assert [need.replace(" ", "") for need in recipe["requirements"]["run"][1:]] == sorted(needs)

    (page,) = (PACKAGING / "flatpak").glob("*.metainfo.xml")
    metainfo = ElementTree.parse(page)
    manifest = yaml.safe_load(page.with_name(f"{metainfo.findtext('id')}.yaml").read_text())
    assert metainfo.findtext("project_license") == project["license"]
    released = metainfo.find("releases/release").attrib
    assert released["version"] == py2048.__version__
    assert metainfo.findtext("url") == source
    assert manifest["id"] == metainfo.findtext("id")
    assert manifest["command"] in project["gui-scripts"]
    assert manifest["rename-desktop-file"] == metainfo.findtext("launchable")

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == py2048.__version__
    assert str(citation["date-released"]) == released["date"]
    (author,) = citation["authors"]
    assert f" {author['name']}\n" in (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bot.py"], "usage: PY2048_TOKEN=TOKEN python bot.py SERVER RULES"),
        (["bot.py", "nowhere", "classic"], "nowhere"),
        (["masked_ppo.py"], "is missing: in a clone, pip install '.[sb3]'"),
        (["rllib_ppo.py"], 'is missing: in a clone, pip install ".[rl]" "ray[rllib]" torch'),
        (["pufferlib_games.py"], "is missing: it is PufferLib's or of the extra rl"),
    ],
)
def test_an_example_that_cannot_run_says_why(words, said):
    """An example that cannot run prints the reason in one line and exits with an error."""
    # In isolated mode, Python finds none of the packages that the last examples need.
    isolated = [] if words[0] == "bot.py" else ["-I", "-S"]
    command = [sys.executable, *isolated, str(ROOT / "examples" / words[0]), *words[1:]]
    token = {"PY2048_TOKEN": "token"} if len(words) > 1 else {}
    environment = {name: value for name, value in os.environ.items() if name != "PY2048_TOKEN"}
    done = subprocess.run(
        command, env=environment | token, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
