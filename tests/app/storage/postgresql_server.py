"""A PostgreSQL server for tests, on the loopback interface, with a password."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql
from tests.free_ports import free_port

USER = "tester"
PASSWORD = "s3cret-w0rd"


def find_binaries() -> Path | None:
    """Return the folder of initdb and pg_ctl: Debian's newest, or the one on the path."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = debian[-1:] or [Path(path) for path in [shutil.which("initdb")] if path]
    return found[0].resolve().parent if found else None


class PostgresqlServer:
    """A database cluster in a temporary folder."""

    def __init__(self, binaries: Path, *, fsync: bool = False) -> None:
        self._fsync = "on" if fsync else "off"
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="py2048-pg-"))
        self.data = self._folder / "data"
        self.port = free_port()
        password_file = self._folder / "password"
        password_file.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (self._folder, password_file):
                shutil.chown(path, _unprivileged_user())
        self._run(
            "initdb", "--no-sync", "--auth=scram-sha-256", f"--username={USER}",
            f"--pwfile={password_file}", "--encoding=UTF8", "--locale=C.UTF-8", str(self.data),
        )  # fmt: skip
        self.start()

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self._folder} -c fsync={self._fsync}"
        )
        self._run(
            "pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", options, *self._at, "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "fast", *self._at, "stop")

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def url(self, *, schema: str = "public", password: str = PASSWORD) -> str:
        place = f"{USER}:{password}@127.0.0.1:{self.port}/postgres"
        return f"postgresql://{place}?options=-csearch_path%3D{schema}"

    def create_schema(self, name: str) -> None:
        self._execute("CREATE SCHEMA {}", name)

    def drop_schema(self, name: str) -> None:
        self._execute("DROP SCHEMA {} CASCADE", name)

    @property
    def _at(self) -> tuple[str, str]:
        return ("-D", str(self.data))

    def _execute(self, statement: str, name: str) -> None:
        where = {"host": "127.0.0.1", "port": self.port, "user": USER, "password": PASSWORD}
        with psycopg.connect(**where, dbname="postgres", autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._binaries / program), *arguments]
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            user = _unprivileged_user()
            group = str(pwd.getpwnam(user).pw_gid)
            command = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", *command]
        done = subprocess.run(
            command,
            cwd=self._folder,
            check=False,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert done.returncode == 0, f"{program} failed: {done.stderr}"


def _unprivileged_user() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
