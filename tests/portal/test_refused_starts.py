"""What cannot work stops a start with one clear line and code 1, and no secret is in it."""

import os
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from portal.environment import BadEnvironment
from tests.trials import quick_every

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = ROOT / "portal" / "variables.py"
OURS = ("WIREBEAT_", "DATABASE_URL", "BROKER_URL", "CACHE_URL", "EMAIL_")

WRONG = [
    ("DATABASE_URL", "postgresql://u:s3cret@h:port/db", "the port a number"),
    ("DATABASE_URL", "postgresql://u:s3cret@h:99999/db", "the port a number"),
    ("DATABASE_URL", "mysql://u:s3cret@h/db", "expected postgresql://"),
    ("DATABASE_URL", "postgresql://u:s3cret@h", "expected postgresql://"),
    ("DATABASE_URL", "postgresql://u:s3cret@h/db?sslmod=require", "'sslmod' is no option"),
    ("BROKER_URL", "http://u:s3cret@h/", "begins with one of redis://"),
    ("BROKER_URL", "redis://u:s3cret@h:port/0", "begins with one of redis://"),
    ("BROKER_URL", "redis://u:s3cret@h/zero", "begins with one of redis://"),
    ("BROKER_URL", "redis+socket://", "begins with one of redis://"),
    ("BROKER_URL", "valkey.sock", "begins with one of redis://"),
    ("CACHE_URL", "amqp://u:s3cret@h/", "begins with one of redis://, rediss://, unix://"),
    ("CACHE_URL", "unix://", "begins with one of redis://"),
    ("EMAIL_URL", "smtp://u:s3cret@h:port", "expected smtp://"),
    ("EMAIL_URL", "http://u:s3cret@h:25", "expected smtp://"),
    ("EMAIL_BACKEND", "smtp", "expected a class"),
    ("EMAIL_BACKEND", "no.such.Backend", "expected a class of an installed module"),
    ("WIREBEAT_CRAWLS", "0", "from 1 to 10000"),
    ("WIREBEAT_DEBUG", "perhaps", "expected yes or no"),
    ("WIREBEAT_DOCUMENTS_OPTIONS", '["s3cret"]', "expected a JSON object"),
    ("WIREBEAT_DOCUMENTS_STORAGE", "FileSystemStorage", "expected a class"),
    ("WIREBEAT_DOCUMENTS_STORAGE", "storages.not_there.Storage", "expected a class of an installed module"),
    ("WIREBEAT_DOCUMENT_DAYS", "1000000", "from 1 to 36600"),
    ("WIREBEAT_EMAIL_VERIFICATION", "yes", "expected none, optional, mandatory"),
    ("WIREBEAT_FROM_EMAIL", "Wirebeat", "expected an address such as"),
    ("WIREBEAT_FROM_EMAIL", "a@b.example\nBcc: c@d.example", "expected an address such as"),
    ("WIREBEAT_HOSTS", "https://news.example", "'https://news.example' is no host"),
    ("WIREBEAT_HOSTS", "news.example:8000", "'news.example:8000' is no host"),
    ("WIREBEAT_HOSTS", "news example", "is no host"),
    ("WIREBEAT_HOSTS", "::1", "is no host"),
    ("WIREBEAT_HOST_GAP", "-1", "from 0 to 86400"),
    ("WIREBEAT_HOST_GAP", "nan", "expected a number"),
    ("WIREBEAT_LOG_FORMAT", "xml", "expected text, json"),
    ("WIREBEAT_LOG_LEVEL", "loud", "expected info, debug, warning, error, critical"),
    ("WIREBEAT_METRICS_TOKEN", "s3cret with blanks", "without blanks"),
    ("WIREBEAT_MIN_GAP", "an hour", "expected a number from 0 to"),
    ("WIREBEAT_MIN_GAP", "1e12", "expected a number from 0 to"),
    ("WIREBEAT_OIDC", "s3cret", "expected a JSON object"),
    ("WIREBEAT_OPEN_HOSTS", "*", "opens nothing"),
    ("WIREBEAT_OPEN_HOSTS", "http://intranet", "opens nothing"),
    ("WIREBEAT_ORIGINS", "news.example", "is no origin"),
    ("WIREBEAT_ORIGINS", "https://news.example/", "is no origin"),
    ("WIREBEAT_PICTURES_MB", "1,000", "expected a whole number"),
    ("WIREBEAT_QUOTA_GB", "ten", "expected a whole number"),
    ("WIREBEAT_NEWSLETTER_DOMAIN", "ada@letters.example", "is no host"),
    ("WIREBEAT_PROXIES", "100", "from 0 to 20"),
    ("WIREBEAT_PUSH", "never", "expected auto, on, off"),
    ("WIREBEAT_RETRIEVAL_LOG_DAYS", "0", "from 1 to 36600"),
    ("WIREBEAT_RETRIEVAL_QUEUES", "65", "from 1 to 64"),
    ("WIREBEAT_SECRET_KEY_FILE", "/nonexistent/key", "cannot read /nonexistent/key: No such file"),
    ("WIREBEAT_SIGN_UP", "nobody", "expected open, invited, closed"),
    ("WIREBEAT_STARTER_EDITION", "perhaps", "expected yes or no"),
    ("WIREBEAT_THEME", "green", "expected auto, light, dark, contrast"),
    ("WIREBEAT_TIME_ZONE", "Atlantis", "expected a time zone such as"),
    ("WIREBEAT_TLS", "maybe", "expected yes or no"),
    ("WIREBEAT_URL", "news.example", "expected an address such as"),
    ("WIREBEAT_URL", "https://u:s3cret@news.example", "expected an address such as"),
    ("WIREBEAT_URL", "https://news.example/below?x=1", "or https://example.org/news"),
    ("WIREBEAT_URL", "https://news.example:port", "expected an address such as"),
    ("WIREBEAT_VAR", "/etc/passwd", "/etc/passwd is a file"),
    ("WIREBEAT_HOST", "news.example", "did you mean WIREBEAT_HOSTS?"),
    ("WIREBEAT_METRICS_TOKN", "s3cret", "did you mean WIREBEAT_METRICS_TOKEN?"),
    ("WIREBEAT_METRICS_TOKEN_FIL", "s3cret", "did you mean WIREBEAT_METRICS_TOKEN?"),
    ("WIREBEAT_ZZZZZZZZZZZZ", "1", "docs/configuration.md lists all names"),
]

RIGHT = [
    ("DATABASE_URL", "postgres://u:p%40w@[::1]:5432/db?sslmode=verify-full&sslrootcert=/etc/ca.pem&connect_timeout=3"),
    ("DATABASE_URL", "postgresql://u@/db?host=/run/postgresql&port=5433"),
    ("DATABASE_URL", ""),
    ("BROKER_URL", "amqp://u:p@h:5672/vhost"),
    ("BROKER_URL", "redis://h1:6379/0;redis://h2:6379/0"),
    ("BROKER_URL", "rediss://:p@h?ssl_cert_reqs=required"),
    ("CACHE_URL", "redis://127.0.0.1:6379/1"),
    ("EMAIL_BACKEND", "django.core.mail.backends.dummy.EmailBackend"),
    ("WIREBEAT_DOCUMENTS_STORAGE", "django.core.files.storage.InMemoryStorage"),
    ("WIREBEAT_FROM_EMAIL", "Wirebeat <news@example.org>"),
    ("WIREBEAT_HOSTS", "News.example, .example.org, 10.0.0.1, [::1], *"),
    ("WIREBEAT_LOG_LEVEL", "WARNING"),
    ("WIREBEAT_MIN_GAP", "0.5"),
    ("WIREBEAT_OPEN_HOSTS", ""),
    ("WIREBEAT_OPEN_HOSTS", "localhost, ::1, [::1], .replay.localhost"),
    ("WIREBEAT_ORIGINS", "https://news.example:8443, https://*.news.example"),
    ("WIREBEAT_PORT_8000_TCP_ADDR", "10.0.0.1"),  # of an orchestrator
    ("WIREBEAT_SERVICE_HOST", "10.0.0.1"),
    ("WIREBEAT_URL", "http://localhost:8000/"),
    ("WIREBEAT_NO_VENV", "1"),
]


@pytest.fixture
def read(monkeypatch, tmp_path):
    """Reads all variables with one of them set."""
    for name in list(os.environ):
        if name.startswith(OURS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("WIREBEAT_VAR", str(tmp_path))

    def read(name, value):
        monkeypatch.setenv(name, value)
        return runpy.run_path(str(VARIABLES))

    return read


def is_one_clear_line(text):
    return text.strip() and text.strip().count("\n") == 0 and "Traceback" not in text and "s3cret" not in text


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_value_is_named_with_what_is_expected(read, name, value, message):
    with pytest.raises(BadEnvironment) as raised:
        read(name, value)
    assert str(raised.value).startswith(name)
    assert message in str(raised.value)
    assert is_one_clear_line(str(raised.value))


@pytest.mark.parametrize(("name", "value"), RIGHT)
def test_valid_settings_are_accepted(read, name, value):
    assert read(name, value)["SECRET_KEY"]


def test_every_variable_is_tried_with_a_wrong_value(read):
    texts = {"WIREBEAT_TEST_DATABASE"}  # a name as any other
    text = VARIABLES.read_text(encoding="utf-8").partition("VAR_DIR = ")[2]
    tried = {name.removesuffix("_FILE") for name, *_ in WRONG}
    assert {name for name in runpy_names(text) if name not in texts} <= tried


def runpy_names(text):
    return {part.split('"')[1] for part in text.split("environment.")[1:] if part.split("(")[1].strip().startswith('"')}


def test_an_empty_secret_file_is_refused(read, tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(BadEnvironment, match=r"WIREBEAT_METRICS_TOKEN_FILE: .*/empty is empty"):
        read("WIREBEAT_METRICS_TOKEN_FILE", str(tmp_path / "empty"))


def environment_with(**given):
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS)} | {
        "WIREBEAT_NO_VENV": "1",
        **given,
    }


def run(*command, **given):
    return subprocess.run(
        command, cwd=ROOT, env=environment_with(**given), capture_output=True, text=True, check=False, timeout=300
    )


def is_refused(done, message):
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert message in output
    return is_one_clear_line(output)


MANAGE = (sys.executable, str(ROOT / "manage.py"))
COMMANDS = ("up", "check")


@pytest.mark.parametrize(
    ("command", "name", "value", "message"),
    quick_every(2, [
        pytest.param(command, *wrong)
        for command in COMMANDS
        for wrong in (WRONG[0], ("WIREBEAT_LOG_LEVEL", "loud", "expected info"), WRONG[-4])
    ]),
)  # fmt: skip
def test_a_command_with_a_wrong_value_says_one_line(command, name, value, message, tmp_path):
    done = run(*MANAGE, command, **{"WIREBEAT_VAR": str(tmp_path / "var"), name: value})
    assert is_refused(done, message)
    assert not (tmp_path / "var" / "pg").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"WIREBEAT_DOCUMENTS_OPTIONS": '{"locatoin": "s3cret"}'}, "unexpected keyword argument 'locatoin'"),
        ({"WIREBEAT_DOCUMENTS_STORAGE": "django.core.files.storage.Storag"}, "WIREBEAT_DOCUMENTS_STORAGE"),
        ({"EMAIL_BACKEND": "django.core.mail.backends.smtp.Backend"}, "EMAIL_BACKEND"),
    ],
)
def test_a_class_that_refuses_its_options_stops_the_preparation(given, message, tmp_path):
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    done = run(
        sys.executable, "-m", "portal.launcher.preparation", WIREBEAT_VAR=str(tmp_path), DATABASE_URL=nowhere, **given
    )
    assert is_refused(done, message)


def test_an_absent_database_is_reported_in_one_line(tmp_path):
    nowhere = "postgresql://nobody:s3cret@127.0.0.1:1/none"
    done = run(sys.executable, "-m", "portal.launcher.preparation", WIREBEAT_VAR=str(tmp_path), DATABASE_URL=nowhere)
    assert is_refused(done, "The database does not answer: connection failed")


@pytest.mark.parametrize(
    ("command", "place"),
    quick_every(2, [
        pytest.param(command, place)
        for command in COMMANDS
        for place in ("/etc/passwd", "/etc/passwd/below", "/sys/wirebeat")
    ]),
)  # fmt: skip
def test_a_data_folder_that_cannot_be_made_is_named(command, place):
    assert is_refused(run(*MANAGE, command, WIREBEAT_VAR=place), place)


MOUNT = ["unshare", "--user", "--mount", "--map-root-user"]


def up_on(options, before, var):
    """`manage.py up` on a file system of its own, which is mounted at `var`."""
    script = f"mount -t tmpfs -o {options} tmpfs {shlex.quote(str(var))} && {before} && exec {shlex.join(MANAGE)} up"
    return run(*MOUNT, "sh", "-c", script, WIREBEAT_VAR=str(var))


@pytest.fixture
def var(tmp_path):
    command = [*MOUNT, "mount", "-t", "tmpfs", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system in a namespace of its own")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "before", "message"),
    [
        ("size=64k", "! head -c 1M /dev/zero 2> /dev/null > filler", "cannot be used: No space left on device"),
        (
            "size=64k",
            "printf key > secret_key && ! head -c 1M /dev/zero 2> /dev/null > filler",
            "cannot be used: No space left",
        ),
        ("size=30m", "true", "MB are free, and the database needs"),
        ("size=1m", "mount -o remount,ro .", "cannot be used: Read-only file system"),
    ],
    ids=["full", "full later", "small", "read-only"],
)
def test_a_disk_that_cannot_be_written_is_named(options, before, message, var):
    assert is_refused(
        up_on(options, f"cd {shlex.quote(str(var))} && {before} && cd {shlex.quote(str(ROOT))}", var), message
    )


def test_a_folder_of_another_user_is_named(open_folder):
    as_other_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if os.geteuid() != 0 or subprocess.run([*as_other_user, "test", "-x", sys.executable], check=False).returncode:
        pytest.skip(f"needs root, and other users that may run {sys.executable}")
    var = open_folder / "var"
    var.mkdir(mode=0o755)
    assert is_refused(run(*as_other_user, *MANAGE, "up", WIREBEAT_VAR=str(var)), "cannot be used: Permission denied")
