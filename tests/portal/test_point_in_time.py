"""The guide's way back to any second, executed as it is written on a Postgres of the test."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from portal.launcher import embedded, privileges

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "deployment.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```\n(.*?)```", PAGE.partition("**To any second.**")[2], re.DOTALL)
# The test's own folder, user and server instead of the machine's.
REPLACED = [
    ("/var/backups", "$FOLDER/backups"),
    ("-o postgres -g postgres ", ""),
    ("runuser -u postgres -- ", ""),
    ("systemctl restart postgresql", "pg_ctl restart --wait --silent --log log"),
]
SCRIPT = """
set -eu
cd "$FOLDER"
mkdir backups
initdb --auth trust --no-sync --username me > log
echo "listen_addresses = ''" >> data/postgresql.conf
echo "unix_socket_directories = '$FOLDER'" >> data/postgresql.conf
pg_ctl start --wait --silent --log log
psql -qc "CREATE TABLE article AS SELECT 'of the base backup' AS title"
{archiving}
psql -qc "INSERT INTO article VALUES ('after the base backup')"
WANTED=$(psql -Atc "SELECT now()")
sleep 0.1
psql -qc "INSERT INTO article VALUES ('after that time')"
pg_ctl stop --silent --mode fast
mv data lost
cp -r backups/base data
touch data/recovery.signal
cat >> data/postgresql.conf <<SETTINGS
{recovery}
SETTINGS
pg_ctl start --wait --silent --log log
until [ "$(psql -Atc 'SELECT pg_is_in_recovery()')" = f ]; do sleep 0.1; done
psql -Atc "SELECT title FROM article"
pg_ctl stop --silent --mode fast
"""


def replaced(block: str) -> str:
    for words, instead in REPLACED:
        assert any(words in each for each in BLOCKS[:2])
        block = block.replace(words, instead)
    return block


@pytest.mark.trial
def test_the_guide_leads_back_to_any_second(tmp_path):
    archiving, recovery = map(replaced, BLOCKS[:2])
    recovery, times = re.subn(r"recovery_target_time = '[^']*'", "recovery_target_time = '$WANTED'", recovery)
    assert times == 1
    script = SCRIPT.format(archiving=archiving, recovery=recovery)
    programs = embedded.postgres_programs()
    folder = embedded.socket_base() / tmp_path.name  # the path of a socket is short
    folder.mkdir(mode=0o700)
    privileges.hand_over(folder)
    environment = os.environ | {
        "FOLDER": str(folder), "PGDATA": str(folder / "data"), "PGHOST": str(folder), "PGDATABASE": "postgres",
        "PGUSER": "me", "PATH": f"{programs}:{os.environ['PATH']}",
    }  # fmt: skip
    try:
        done = subprocess.run(
            [*privileges.prefix(programs / "postgres"), "sh", "-c", script],
            env=environment, capture_output=True, text=True, check=False, timeout=240,
        )  # fmt: skip
        assert done.stdout.splitlines()[-2:] == ["of the base backup", "after the base backup"], done.stderr
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)
