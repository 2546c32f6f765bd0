"""The guide for Debian, executed word by word on this machine's files, of which a copy takes all that is written.

Its commands run in namespaces of mounts, processes and the network of their own, on an overlay over the root. What
cannot run there is replaced, each for the reason that stands beside it.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
GUIDE = Path(__file__).with_name("guide")
NAME = "news.example"
NEEDED = {"git", "python3-venv", "postgresql", "redis-server", "caddy"}


def section(title):
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def commands():
    """The lines of all blocks of the guide."""
    blocks = re.findall(r"```sh\n(.*?)```", section("Debian, step by step"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


UNIT_FILES = "/etc/systemd/system/wirebeat-*"
# A replacement of the first words of a command, or a part of it, and why.
REPLACED = [
    (r"apt-get install --yes (.*)", r"dpkg --status \1 > /dev/null", "a test downloads nothing: they are installed"),
    (r"git clone \S+ (\S+)", rf"mkdir -p \1 && mount --bind {ROOT} \1", "it is this checkout"),
    (r"python3 manage.py check", ".venv/bin/python manage.py check", "its packages are installed"),
    (r"\$\(hostname -f\)", NAME, "the machine of a test has no name of its own"),
    (r"systemctl restart postgresql", "pg_ctlcluster 15 main restart", "systemd does not run"),
    (
        r"systemctl daemon-reload",
        "systemd-analyze verify --man=no /etc/systemd/system/wirebeat-*",
        "systemd does not run",
    ),
    (r"systemctl enable --now (.*)", r"python3 /units.py start \1", "systemd does not run"),
    (r"systemctl (start|stop) (.*)", r"python3 /units.py \1 \2", "systemd does not run"),
    (r"systemctl reload caddy", "/caddy.sh", "no authority certifies a test: Caddy's own does"),
    (r"^wirebeat doctor", "/doctor.sh", "the address leads elsewhere, and no one is reached from here"),
]


LINUX_ONLY = "Wirebeat runs on Linux only"


def can_overlay() -> bool:
    """Whether namespaces and an overlay are allowed here, and all programs of the guide are installed."""
    if not all(shutil.which(name) for name in ("unshare", "caddy", "redis-server", "pg_createcluster", "curl", "ip")):
        return False
    tried = (
        "mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/r"
        " && mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/r"
    )
    return not subprocess.run(["unshare", "--mount", "sh", "-c", tried], check=False, capture_output=True).returncode


def test_every_command_of_the_guide_names_what_there_is():
    found = commands()
    assert len(found) > 25
    assert set(re.search(r"apt-get install --yes (.*)", "\n".join(found))[1].split()) == NEEDED
    for line in found:
        for path in re.findall(r"(?:/opt/wirebeat/|(?<= ))(deploy/[\w./*-]+)", line):
            assert list(ROOT.glob(path)), line
    assert LINUX_ONLY in section("Debian, step by step")
    assert all(reason for _, _, reason in REPLACED)


@pytest.mark.trial
@pytest.mark.timeout(900)  # s; the machine may be busy
def test_the_guide_leads_from_debian_to_a_page_with_tls_and_backups(tmp_path):
    if not can_overlay():
        pytest.skip("an overlay over this machine's files is not allowed, or a program of the guide is missing")
    lines = []
    for line in commands():
        for pattern, replacement, _ in REPLACED:
            line = re.sub(pattern, replacement, line)
        lines.append("cat /var/lib/wirebeat/admin_password > /tmp/password" if line.startswith("cat ") else line)
    texts = [(GUIDE / "before.sh").read_text(), *lines, (GUIDE / "after.sh").read_text()]
    (tmp_path / "guide.sh").write_text("\n".join(texts))
    outer = [
        "mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work /mnt/root",
        "mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/root",
        "mount -t proc proc /mnt/root/proc; for each in dev sys; do mount --rbind /$each /mnt/root/$each; done",
        "mount -t tmpfs tmpfs /mnt/root/tmp && chmod 1777 /mnt/root/tmp",
        f"mkdir -p /mnt/root{ROOT} && mount --rbind {ROOT} /mnt/root{ROOT}",  # it may lie in /tmp
        f"cp {GUIDE}/* {tmp_path}/guide.sh /mnt/root/ && chmod +x /mnt/root/*.sh",
        "chroot /mnt/root bash /guide.sh",
    ]
    done = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-ec", "\n".join(outer)],
        env={"CHECKOUT": str(ROOT), "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-6_000:]
    assert "wirebeat:700" in done.stdout
    assert "root:640" in done.stdout
    findings = {
        each["name"]: each for each in json.loads(done.stdout[done.stdout.index("[\n") : done.stdout.rindex("\n]") + 2])
    }
    wrong = {name for name, each in findings.items() if not each["fine"] and not each["is_warning"]}
    assert wrong <= {"address"}, wrong
