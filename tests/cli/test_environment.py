"""Commands answer and end alike, whatever variables a user has set or lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from ggn_store import Store
from tests.support.program import MINI, MINI_TOML, write

# Runs commands one after the other, as a shell would in this environment, and tells their exit codes.
RUN = """
import json, os, sys
from ggn_store.cli import main
for command in json.loads(sys.argv[1]):
    sys.argv = ["ggn-store", *command]
    try:
        main()
    except SystemExit as end:
        for number in (1, 2):
            os.write(number, f">>> {command[2:]}: {end.code}\\n".encode())
"""
COMMANDS = [
    ["list", "--format", "table"],
    ["log", "mini"],
    ["log", "mini", "--format", "text"],
    ["audit"],
    ["export", "mini"],
    ["moves", "mini"],
    ["load", "broken.json"],
    ["show", "nothing♔"],
    ["sql", "select * from v_history"],
    ["sql", "select * from revision"],
    ["sql", "select '♔' as king", "--format", "table"],
    ["sql", "select 1 from nothing"],
    ["moves", "mini", "--nothing"],
    ["validate", "mini.json", "broken.json"],
    ["draw", "mini"],
    ["blame", "mini"],
    ["db", "info"],
    ["db", "check"],
    ["bundle", "verify", "nothing.ggnb"],
    ["play", "mini"],
]
NOWHERE = "/nonexistent"
ENVIRONMENTS: dict[str, dict[str, str | None]] = {
    "set": {
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "ascii:strict",
        "PYTHONWARNINGS": "error",
        "PYTHONOPTIMIZE": "1",
        "PYTHONHASHSEED": "7",
        "LANG": "C",
        "LC_ALL": "C",
        "TERM": "dumb",
        "COLUMNS": "nonsense",
        "FORCE_COLOR": "1",
        "CI": "1",
        "PAGER": "false",
        "TZ": "Asia/Kathmandu",
        **dict.fromkeys(("HOME", "TMPDIR", "SQLITE_TMPDIR", "PYTHONPATH", "PYTHONSTARTUP"), NOWHERE),
        **{f"XDG_{name}_HOME": NOWHERE for name in ("DATA", "CONFIG", "STATE", "CACHE")},
        **dict.fromkeys(("PGHOST", "PGUSER", "PGPASSWORD", "PGDATABASE"), "nobody.invalid"),
        "PGPORT": "1",
        "PGTZ": "Asia/Tokyo",
        "PGDATESTYLE": "German",
        "PGCLIENTENCODING": "LATIN1",
    },
    "lacking": {
        **dict.fromkeys(("HOME", "LANG"), None),
        "PYTHONIOENCODING": "latin-1",
        "PYTHONWARNINGS": "default",
        "COLUMNS": "0",
        "NO_COLOR": "1",
        "TZ": "No/Where",
    },
}


def answers(address: str, environment: dict[str, str]) -> tuple[bytes, bytes]:
    """What the commands write to standard output and to standard error."""
    commands = [["--db", address, *command] for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(commands)],
        env=environment,
        input=b"a2 a3\n1\n",
        capture_output=True,
        check=False,
    )
    return done.stdout, done.stderr


def test_answers_messages_and_exit_codes_depend_on_no_variable(address: str, tmp_path: Path) -> None:
    write("broken.json", {"C:P": {"e♔": 3}})
    write("mini.toml", MINI_TOML)
    with Store.open(address) as store:
        store.load(write("mini.json", MINI), "mini", message="a ♔", author="Zoë")
    plain = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    expected = answers(address, plain)
    assert all(each.count(b">>> ") == len(COMMANDS) for each in expected), expected[1].decode()
    for name, more in ENVIRONMENTS.items():
        environment = {key: value for key, value in (plain | more).items() if value is not None}
        out, err = answers(address, environment)
        assert out.decode().split(">>> ") == expected[0].decode().split(">>> "), name
        assert err.decode().split(">>> ") == expected[1].decode().split(">>> "), name
