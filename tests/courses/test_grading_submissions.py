"""Submissions are found in all their shapes, and unsafe archives are rejected."""

from __future__ import annotations

import io
import stat
import tomllib
import zipfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from toys import ADD, GREET, GROW, RIGHT, TOY, grade_path

from py2048.core.errors import CourseError
from py2048.courses.grading import submissions
from py2048.courses.grading.grader import grade
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.grading.submissions import (
    BadArchive,
    Submission,
    Unreadable,
    collect,
    find_program,
    prepare,
    unpack,
)


def _zipped(files: dict[str, str | bytes]) -> bytes:
    """A ZIP file with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.filename = name  # ZipInfo would replace the system's separator
            archive.writestr(info, content)
    return buffer.getvalue()


def _laid_out(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def _names(path: Path, tmp_path: Path) -> list[str]:
    found = collect([path], TOY, tmp_path / "scratch")
    assert {submission.problem for submission in found} == {""}
    return [submission.name for submission in found]


SHAPES = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text())


def _shaped(shape: str) -> tuple[dict[str, str | bytes], list[str]]:
    """A shape's files and names. A table is a ZIP file, and `{right}` is a right program."""
    files = {}
    for name, content in SHAPES[shape]["files"].items():
        parts = content if isinstance(content, dict) else {"": content}
        texts = {part: text.replace("{right}", RIGHT) for part, text in parts.items()}
        files[name] = _zipped(texts) if parts is content else texts[""]
    return files, SHAPES[shape]["names"]


@pytest.mark.parametrize("shape", SHAPES)
def test_submissions_in_a_folder(shape, tmp_path):
    """Every student is found once, under the name in the download."""
    files, names = _shaped(shape)
    assert _names(_laid_out(tmp_path / "class", files), tmp_path) == names


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if "one" not in shape])
def test_submissions_in_a_zip(shape, tmp_path):
    """A ZIP gives the same submissions as a folder."""
    files, names = _shaped(shape)
    path = tmp_path / "class.zip"
    path.write_bytes(_zipped(files))
    expected = ["class"] if names == ["class/src"] else names
    assert _names(path, tmp_path) == expected


def test_windows_paths_in_a_zip(tmp_path):
    """Backslashes are path separators."""
    path = tmp_path / "class.zip"
    path.write_bytes(_zipped({"ann\\app.py": RIGHT, "bob\\src\\app.py": RIGHT}))
    assert _names(path, tmp_path) == ["ann", "bob"]


def test_names_are_made_unique(tmp_path):
    """Two submissions with the same name are both graded."""
    paths = [_laid_out(tmp_path / part, {"app.py": RIGHT}) / "app.py" for part in "ab"]
    found = collect(paths, TOY, tmp_path / "scratch")
    assert [submission.name for submission in found] == ["app", "app (2)"]


@pytest.mark.parametrize(
    "name",
    ["../evil.py", "a/../../evil.py", "/evil.py", "\\evil.py", "C:\\evil.py", "..\\evil.py", "C:e"],
)
def test_paths_outside_the_folder_are_rejected(name, tmp_path):
    """Nothing is written if any path leads outside."""
    path = tmp_path / "bad.zip"
    path.write_bytes(_zipped({"app.py": RIGHT, name: "evil"}))
    with pytest.raises(BadArchive, match="outside the folder"):
        unpack(path, tmp_path / "deep" / "folder")
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and p != path]


def test_links_in_a_zip_are_rejected(tmp_path):
    """A link could lead anywhere."""
    info = zipfile.ZipInfo("app.py")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(BadArchive, match="is a link"):
        unpack(path, tmp_path / "folder")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, ""),
        ({"folder/": "", "other\\": ""}, ""),
        ({"app.py": b"1"}, "bomb.zip unpacks to more than 1 MiB"),
        ({"more": b""}, "bomb.zip holds 3 files"),
    ],
)
def test_a_zip_bomb_is_stopped_by_its_unpacked_size(more, message, tmp_path, monkeypatch):
    """Limits apply to the bytes written, not the declared size. Folders do not count as files."""
    monkeypatch.setattr(submissions, "MAX_ARCHIVE_BYTES", 1 << 20)
    monkeypatch.setattr(submissions, "MAX_ARCHIVE_FILES", 2)
    path = tmp_path / "bomb.zip"
    path.write_bytes(_zipped({"app.py": "", "zeros": b"\0" * (1 << 20)} | more))
    assert path.stat().st_size < 1 << 15
    with pytest.raises(BadArchive, match=message) if message else nullcontext():
        unpack(path, tmp_path / "folder")


@pytest.mark.parametrize(("limit", "most"), [("MAX_FILES", 2), ("MAX_BYTES", 3 << 20)])
def test_a_submission_has_a_maximum_size(limit, most, tmp_path, monkeypatch):
    """The number of files and their size may reach the limit, and not exceed it."""
    data = bytes((3 << 20) - len(RIGHT))
    (ann,) = collect([_laid_out(tmp_path / "ann", {"app.py": RIGHT, "x": data})], TOY, tmp_path)
    monkeypatch.setattr(submissions, limit, most)
    assert prepare(ann, TOY, tmp_path / "work").notes == []
    monkeypatch.setattr(submissions, limit, most - 1)
    with pytest.raises(Unreadable, match="the submission is too large: 2 files, 3 MiB"):
        prepare(ann, TOY, tmp_path / "again")


@pytest.mark.parametrize(
    ("names", "note"),
    [
        (
            "app my_test other",
            "app.py was graded instead of other.py, because it fits the tasks best",
        ),
        ("app game", "app.py was graded instead of game.py, because it has the required name"),
        (
            "a b c d e f",
            "a.py was graded instead of b.py, c.py, d.py, e.py, because it comes first",
        ),
    ],
)
def test_other_programs_of_a_submission_are_noted(names, note, tmp_path):
    """The note gives the reason, and names at most four files, but no tests."""
    files = {f"{name}.py": RIGHT for name in names.split()} | {"helper.py": "x = 1"}
    paths = tuple(sorted(_laid_out(tmp_path / "ann", files).iterdir()))
    course = replace(TOY, files=("app.py", "game.py"))
    work = prepare(Submission("ann", tmp_path / "ann", paths), course, tmp_path / "work")
    assert work.notes[-1] == note


@pytest.mark.parametrize(("depth", "problem"), [(3, ""), (4, "ZIPs are nested too deeply")])
def test_nested_zips_are_limited(depth, problem, tmp_path):
    """Nesting is only followed to a maximum depth."""
    content = _zipped({"app.py": RIGHT})
    for number in range(depth):
        content = _zipped({f"{number}.zip": content, "app.txt": ""})
    path = _laid_out(tmp_path / "class", {"ann.zip": content, "bob.py": RIGHT})
    (ann, bob) = sorted(collect([path], TOY, tmp_path / "scratch"), key=lambda s: s.name)
    assert ann.problem == problem
    assert not bob.problem


def test_a_bad_zip_affects_only_its_student(tmp_path):
    """That student gets a reason, and the others are graded."""
    path = _laid_out(tmp_path / "class", {"ann.zip": b"no zip", "bob.py": RIGHT})
    found = {submission.name: submission for submission in collect([path], TOY, tmp_path / "s")}
    assert "ann.zip is not a readable ZIP file" in found["ann"].problem
    assert not found["bob"].problem


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "does not exist"),
        (lambda path: path.mkdir(), "contains no Python file"),
        (lambda path: path.write_text("x"), "is not a Python file, folder or ZIP"),
    ],
)
def test_a_path_with_nothing_to_grade_is_rejected(make, message, tmp_path):
    """The teacher gets an error."""
    path = tmp_path / "thing.txt"
    make(path)
    with pytest.raises(CourseError, match=message):
        collect([path], TOY, tmp_path / "scratch")


def test_a_folder_without_python_is_a_submission_with_a_problem(tmp_path):
    """A student who handed in a document gets no marks, and a reason."""
    folder = _laid_out(tmp_path / "class", {"ann/essay.docx": b"x", "bob/app.py": RIGHT})
    ann, bob = collect([folder], TOY, tmp_path / "scratch")
    reports = [grade(student, TOY, SandboxConfig()) for student in (ann, bob)]
    assert [report.earned for report in reports] == [0, 9]
    assert reports[0].problem == "there is no Python file (essay.docx): hand in app.py"


def test_links_in_a_folder_are_not_followed(tmp_path):
    """A submission cannot make the grader read the teacher's files."""
    folder = _laid_out(tmp_path / "class", {"ann/app.py": RIGHT, "bob/app.py": RIGHT})
    secret = _laid_out(tmp_path, {"secret.py": RIGHT}) / "secret.py"
    (folder / "ann" / "other.py").symlink_to(secret)
    ann, _ = collect([folder], TOY, tmp_path / "scratch")
    assert [path.name for path in ann.files] == ["app.py"]


def test_the_program_is_found_by_its_definitions(tmp_path):
    """The file that defines the functions is graded, whatever its name."""
    folder = _laid_out(
        tmp_path / "ann", {"Final version (2).py": RIGHT, "old/app.txt": "", "helper.py": "x = 1"}
    )
    report = grade_path(folder / "Final version (2).py")
    assert report.lost == ()
    assert "Final version (2).py was graded as app.py" in report.notes


def test_imported_functions_count_as_defined(tmp_path):
    """The course's program is graded even if its functions are in other files."""
    files = {"app.py": "from lib.parts import *\nfrom talk import greet\n", "talk.py": GREET}
    folder = _laid_out(tmp_path / "ann", {**files, "lib/parts.py": ADD + GROW})
    report = grade_path(folder)
    assert report.lost == ()
    assert not report.notes


def test_a_launcher_is_not_the_program(tmp_path):
    """The file that defines the functions is graded; neither links nor lost files are read."""
    course = replace(TOY, files=("main.py", "app.py"))
    folder = _laid_out(tmp_path / "ann", {"main.py": "from app import *", "app.py": RIGHT})
    assert find_program(sorted(folder.iterdir()), course).name == "app.py"
    _laid_out(folder, {"main.py": "from lent import *", "app.py": ADD})
    (folder / "lent.py").symlink_to(_laid_out(tmp_path, {"secret.py": RIGHT}) / "secret.py")
    paths = [folder / name for name in ("app.py", "main.py", "lost.py")]
    assert find_program(paths, course).name == "app.py"


FREE = replace(TOY, files=("app.py", "game.py"), expects=())
IN_PARTS = tomllib.loads(Path(__file__).with_name("parts.toml").read_text())


@pytest.mark.parametrize("parts", IN_PARTS)
def test_the_file_to_run_is_the_program(parts, tmp_path):
    """This applies to courses that prescribe neither names nor functions."""
    files, program = IN_PARTS[parts]["files"], IN_PARTS[parts]["program"]
    folder = _laid_out(tmp_path / "ann", files)
    assert find_program(sorted(folder.iterdir()), FREE).name == program


def test_parts_of_a_program_are_one_submission(tmp_path):
    """Independent programs are separate submissions, even next to a library they import."""
    for parts in ("rules beside", "a library beside"):
        folder = _laid_out(tmp_path / parts, IN_PARTS[parts]["files"])
        (submission,) = collect([folder], FREE, tmp_path / "scratch")
        assert submission.name == parts
    (folder / "bob.py").write_text("from graphics import *\nGraphWin()\n")
    names = [submission.name for submission in collect([folder], FREE, tmp_path / "more")]
    assert names == ["bob", "graphics", "project"]


def test_a_students_file_keeps_the_courses_name(tmp_path):
    """If another file is the program, it may import the file with the course's name."""
    rules = "class Game:\n    pass\n"
    files = {"app.py": rules, "start.py": "from app import Game\nTk().mainloop()\n"}
    folder = _laid_out(tmp_path / "ann", files)
    (submission,) = collect([folder], FREE, tmp_path / "scratch")
    assert prepare(submission, FREE, tmp_path / "work").file == "start.py"
    assert (tmp_path / "work" / "app.py").read_text() == rules


def test_other_files_of_a_submission_can_be_imported_and_read(tmp_path):
    """Modules and data next to the program are available when it runs."""
    source = f"from helper import add\n{GREET}{GROW}"
    helper = ADD + "\nassert open('data/x.txt').read() == 'x'\n"
    folder = _laid_out(tmp_path / "ann", {"app.py": source, "helper.py": helper, "data/x.txt": "x"})
    assert grade_path(folder).lost == ()


def test_a_renamed_program_and_its_tests_are_one_submission(tmp_path):
    """The other files are imported, or only test it."""
    files = {
        "project1.py": "from helpers import total\ndef add(a, b):\n    return a + b\n",
        "helpers.py": "def total(numbers):\n    return sum(numbers)\n",
        "test_it.py": "print('no')\n",
    }
    folder = _laid_out(tmp_path / "ann", files)
    (submission,) = collect([folder], TOY, tmp_path / "scratch")
    assert submission.name == "ann"
    assert [path.name for path in submission.files] == ["helpers.py", "project1.py", "test_it.py"]
