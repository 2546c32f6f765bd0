"""Starts and stops units as systemd would, without their limits: `units.py start|stop NAME...`."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path


def settings_of(lines):
    """The values of each name, of a unit or of a file of variables."""
    found = defaultdict(list)
    for line in lines:
        name, _, value = line.strip().partition("=")
        if value and not line.startswith("#"):
            found[name].append(value)
    return found


def start(name, unit):
    [user], [folder] = unit["User"], unit["WorkingDirectory"]
    variables = settings_of(Path(unit["EnvironmentFile"][0]).read_text().splitlines())
    environment = {"PATH": os.environ["PATH"], "HOME": "/var/lib/wirebeat"}
    environment |= {key: value for key, [value] in variables.items()}
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--no-new-privs"]
    for kind in ("ExecStartPre", "ExecStart"):
        for line in unit[kind]:
            command = [*become, *shlex.split(line)]
            with Path(f"/var/log/{name}.log").open("ab") as log:
                options = {"env": environment, "cwd": folder, "stdout": log, "stderr": log}
                if kind == "ExecStartPre" or unit["Type"] == ["oneshot"]:
                    subprocess.run(command, check=True, **options)
                else:
                    process = subprocess.Popen(command, start_new_session=True, **options)
                    Path(f"/run/{name}.pid").write_text(str(process.pid))


def stop(name, _unit):
    process = int(Path(f"/run/{name}.pid").read_text())
    os.kill(process, signal.SIGTERM)
    while Path(f"/proc/{process}").exists():
        time.sleep(0.1)


for given in sys.argv[2:]:
    base, at, instance = given.partition("@")
    if not base.endswith(".timer"):
        text = Path(f"/etc/systemd/system/{base}{at}.service").read_text()
        for word, value in {"%i": instance, "%H": "here", "%%": "%", "$$": "$"}.items():
            text = text.replace(word, value)
        {"start": start, "stop": stop}[sys.argv[1]](given, settings_of(text.splitlines()))
