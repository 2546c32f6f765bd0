"""A portal on real servers whose site, worker and clock are stand-ins: `manage.py up` without the apps.

Run as a program, optionally with the port as an argument. WIREBEAT_VAR names the data folder.
"""

import socket
import sys
from collections.abc import Mapping, Sequence

from portal.launcher import startup
from portal.launcher.console import Console
from portal.launcher.supervisor import Program

PREPARATION = """
import os, psycopg
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS note (text text)")
"""
SITE = """
import http.server, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *arguments):
        pass
server = http.server.HTTPServer(("", 0), Handler, bind_and_activate=False)
server.socket = socket.socket(fileno=int(sys.argv[1]))
server.serve_forever()
"""
# Prints the signal that stops it, and writes to the database to show that it still runs then.
WORKER = """
import os, psycopg, signal, sys
def stop(number, frame):
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("INSERT INTO note VALUES ('written while stopping')")
    print("stopped by", signal.Signals(number).name, flush=True)
    sys.exit()
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, stop)
print("working", flush=True)
while True:
    signal.pause()
"""


def applications(listener: socket.socket, environment: Mapping[str, str]) -> tuple[Program, Sequence[Program]]:
    def python(code: str, *arguments: str) -> list[str]:
        return [sys.executable, "-c", code, *arguments]

    file = listener.fileno()
    return Program(name="preparation", command=python(PREPARATION), environment=environment), [
        Program(
            name="web",
            command=python(SITE, str(file)),
            files=(file,),
            is_ready=lambda: startup.answers(listener),
        ),
        Program(name="worker", command=python(WORKER), environment=environment),
        Program(name="beat", command=["sleep", "infinity"]),
    ]


if __name__ == "__main__":
    var = startup.data_folder()
    port = int(sys.argv[1]) if sys.argv[1:] else None
    sys.exit(startup.up(var, "127.0.0.1", port, Console(var / "log"), applications))
