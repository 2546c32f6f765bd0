"""FreshRSS from a checkout, with php-fpm, nginx and a Postgres of its own.

Its data stand outside of the checkout, which stays as it is.
"""

import getpass
import re
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import md5
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import quote_plus, urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import psycopg
from django.core.management.base import CommandError

from apps.sources.formats import opml
from lab.harness import running
from lab.peers.archive import Archive
from lab.peers.base import ON_A_PAGE, PeerWithPages, Programs, wait_until
from lab.peers.sites import number_of
from lab.peers.verdict import Stored
from portal.launcher import embedded, privileges, servers
from portal.launcher.console import QUIET, Console
from portal.launcher.supervisor import Supervisor

NAME, PASSWORD = "importer", "bringsfeeds300"
PREFIX = f"freshrss_{NAME}_"  # of its tables
CACHE_SECONDS = 1  # its shortest rounds are 800 s apart otherwise
AGED = 7_200  # s by which feeds are made older, so that all are due
STORED_AT_ONCE = 5_000
SAMPLE = 10  # folders or feeds whose pages are requested
TIMEOUT = 600.0  # s of a request: marking everything read takes long
PROCESSES = 8  # of PHP at most
ALL, UNREAD = 3, 2  # states of the articles of a list

_SYSTEM = """<?php return [
    'unsafe_autologin_enabled' => true,
    'simplepie_syslog_enabled' => false,
    'limits' => ['cache_duration' => {cache}, 'cache_duration_min' => 0, 'cache_duration_max' => 86400],
];
"""
_USER = "<?php return ['posts_per_page' => {articles}];\n"
_POOL = """[global]
error_log = {folder}/fpm.log
daemonize = no
[www]
{user}listen = {folder}/fpm.sock
pm = dynamic
pm.max_children = {processes}
pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 3
env[DATA_PATH] = {folder}/data
env[TMPDIR] = {folder}/tmp
php_admin_value[session.save_path] = {folder}/tmp
php_admin_value[memory_limit] = 512M
php_admin_value[max_execution_time] = 600
"""
_WEB = """{user}worker_processes auto;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{
    include /etc/nginx/mime.types;
    access_log off;
    gzip on;
    client_body_temp_path {folder}/tmp/body;
    fastcgi_temp_path {folder}/tmp/fastcgi;
    proxy_temp_path {folder}/tmp/proxy;
    uwsgi_temp_path {folder}/tmp/uwsgi;
    scgi_temp_path {folder}/tmp/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {checkout}/p/;
        index index.php;
        location ~ ^.+?\\.php(/.*)?$ {{
            fastcgi_pass unix:{folder}/fpm.sock;
            fastcgi_split_path_info ^(.+\\.php)(/.*)$;
            fastcgi_read_timeout 600s;
            set $path_info $fastcgi_path_info;
            fastcgi_param PATH_INFO $path_info;
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
        }}
        location / {{ try_files $uri $uri/ index.php; }}
    }}
}}
"""
_STORED = "SELECT feed.url, entry.title, entry.link FROM {0}entry entry JOIN {0}feed feed ON feed.id = entry.id_feed"
_AGE = 'UPDATE {0}feed SET "lastUpdate" = "lastUpdate" - %s'
_ADD = """
COPY {0}entry (id, guid, title, author, content, link, date, "lastSeen", hash, is_read, is_favorite, id_feed, tags,
    attributes) FROM STDIN
"""
_COUNT = """
UPDATE {0}feed feed SET "cache_nbEntries" = counted.stored, "cache_nbUnreads" = counted.unread FROM (
    SELECT id_feed, count(*) AS stored, count(*) FILTER (WHERE is_read = 0) AS unread FROM {0}entry GROUP BY id_feed
) counted WHERE feed.id = counted.id_feed
"""


class FreshRSS(PeerWithPages):
    name = "freshrss"
    label = "FreshRSS"

    @classmethod
    def missing(cls, programs: Programs) -> str:
        if programs.freshrss is None:
            return "git clone https://github.com/FreshRSS/FreshRSS, then --freshrss FOLDER"
        needed = {"php": _found("php"), "nginx": _found("nginx"), "php-fpm": _php_fpm()}
        if all(needed.values()):
            return ""
        return "apt install nginx-light php-cli php-fpm php-pgsql php-curl php-xml php-mbstring php-intl php-zip"

    def start(self) -> None:
        folder = self.world.folder
        for name in ("data", "tmp"):
            (folder / name).mkdir()
        self._port, port = _free_port(), _free_port()
        self.address = f"http://127.0.0.1:{port}"
        self._start_postgres(folder / "postgres")
        self._install()
        owner = getpass.getuser() == "root"
        shared = {"folder": folder, "checkout": self._checkout, "port": port, "processes": PROCESSES}
        (folder / "fpm.conf").write_text(_POOL.format(**shared, user="user = root\n" if owner else ""))
        (folder / "nginx.conf").write_text(_WEB.format(**shared, user="user root;\n" if owner else ""))
        commands = {
            "php-fpm": [_php_fpm(), "--nodaemonize", "-y", str(folder / "fpm.conf"), *(["-R"] if owner else [])],
            "nginx": [_found("nginx"), "-c", str(folder / "nginx.conf"), "-p", str(folder), "-g", "daemon off;"],
        }
        started = self.enter(running(commands))
        self.processes += [process.pid for process in started.values()]
        wait_until(self._answers, "FreshRSS answers", 60.0)

    def _start_postgres(self, var: Path) -> None:
        var.mkdir()
        privileges.hand_over(var)
        sockets = embedded.make_run_directory(var)
        supervisor = Supervisor(Console(var / "log", QUIET))
        self._stack.callback(shutil.rmtree, sockets, ignore_errors=True)
        self._stack.callback(supervisor.stop)
        settings = servers.postgres_settings() | {"listen_addresses": "127.0.0.1"}
        supervisor.start(servers.postgres(var / "pg", sockets, settings, port=self._port))
        self.processes = [int((var / "pg" / "postmaster.pid").read_text().partition("\n")[0])]
        url = f"postgresql://postgres@127.0.0.1:{self._port}/{embedded.DATABASE}"
        self._connection = self.enter(psycopg.connect(url, autocommit=True))

    def _install(self) -> None:
        data = self.world.folder / "data"
        (data / "config.custom.php").write_text(_SYSTEM.format(cache=CACHE_SECONDS))
        (data / "config-user.custom.php").write_text(_USER.format(articles=ON_A_PAGE))
        self._php("cli/prepare.php")
        base = ["--db-type", "pgsql", "--db-host", f"127.0.0.1:{self._port}", "--db-user", "postgres"]
        base += ["--db-password", "none", "--db-base", embedded.DATABASE, "--db-prefix=freshrss_"]
        self._php("cli/do-install.php", "--default-user", NAME, "--auth-type", "form", *base)
        self._php("cli/create-user.php", "--user", NAME, "--password", PASSWORD)
        self._execute("DELETE FROM {0}feed")  # of the internet; the option that leaves them out fails

    def _answers(self) -> bool:
        with suppress(OSError):
            self._opener().open(f"{self.address}/i/", timeout=TIMEOUT).close()
            return True
        return False

    # --- feeds --------------------------------------------------------------------------------------------------------
    def import_list(self, expected: int) -> None:
        file = self.world.folder / "feeds.opml"
        file.write_bytes(opml.write(self.world.subscriptions(), datetime.now(UTC)))
        self._php("cli/import-for-user.php", "--user", NAME, "--filename", str(file))
        self._php("app/actualize_script.php")

    def refresh(self, expected: int) -> None:
        self._php("app/actualize_script.php")

    def settle(self) -> None:
        """Let all feeds fall due again."""
        self._execute(_AGE, [AGED])
        time.sleep(CACHE_SECONDS + 1)

    def stored(self) -> Iterator[Stored]:
        for feed, title, link in self._connection.execute(_STORED.format(PREFIX)):
            yield Stored(number_of(feed), title, link)

    def disk(self) -> int:
        self._execute("VACUUM ANALYZE")
        found = self._connection.execute("SELECT pg_database_size(current_database())").fetchone()
        assert found is not None
        return int(found[0])

    # --- pages --------------------------------------------------------------------------------------------------------
    def fill(self, archive: Archive) -> None:
        ids = {number: feed_id for feed_id, number in self._numbers().items()}
        for part in archive.parts(STORED_AT_ONCE):
            with self._connection.cursor() as cursor, cursor.copy(_ADD.format(PREFIX)) as copy:
                for posting in part:
                    number, position = posting.site.number, posting.position
                    if number not in ids:
                        continue
                    link, at = self.world.addresses.article(number, position), posting.published.timestamp()
                    shown = (link, posting.title, "", posting.html, link, int(at), int(time.time()))
                    rest = (md5(link.encode()).digest(), 0, 0, ids[number], "", "[]")
                    copy.write_row((int(at * 1e6), *shown, *rest))
        self._execute("UPDATE {0}entry SET is_read = 0 WHERE is_read <> 0")
        self._execute(_COUNT)
        self._execute("VACUUM ANALYZE")

    def sign_in(self) -> None:
        cookies = CookieJar()
        self._session = self._opener(cookies)
        query = urlencode({"c": "auth", "a": "login", "u": NAME, "p": PASSWORD})
        self._session.open(f"{self.address}/i/?{query}", timeout=TIMEOUT).close()
        kept = "; ".join(f"{cookie.name}={cookie.value}" for cookie in cookies)
        self.headers = {"Cookie": kept, "Accept-Encoding": "gzip"}

    def pages(self) -> dict[str, list[str]]:
        rows = self._connection.execute(f"SELECT id FROM {PREFIX}category WHERE name LIKE 'Folder%' ORDER BY name")
        folders = [f"c_{row[0]}" for row in rows.fetchall()[:SAMPLE]]
        feeds = [f"f_{feed}" for feed in sorted(self._numbers())[:SAMPLE]]
        return {
            "list": [f"/i/?get=a&state={ALL}"],
            "unread": [f"/i/?get=a&state={UNREAD}"],
            "folder": [f"/i/?get={folder}&state={ALL}" for folder in folders],
            "feed": [f"/i/?get={feed}&state={ALL}" for feed in feeds],
        }

    def search_page(self, words: str) -> str:
        return f"/i/?get=a&state={ALL}&search={quote_plus(words)}"

    def count_articles(self, page: str) -> int:
        return len(set(re.findall(r'id="flux_(\d+)"', page)))

    def mark_all_read(self) -> None:
        page = self._session.open(f"{self.address}/i/?get=a&state={ALL}", timeout=TIMEOUT).read().decode()
        token = re.search(r'name="_csrf" value="([^"]+)"', page)
        newest = re.search(r"idMax=(\d+)", page)
        if not token or not newest:
            raise CommandError("The list page of FreshRSS has no button that marks all read.")
        query = urlencode({"c": "entry", "a": "read", "get": "a", "nextGet": "a", "idMax": newest[1]})
        body = urlencode({"_csrf": token[1]}).encode()
        self._session.open(f"{self.address}/i/?{query}", body, timeout=TIMEOUT).read()

    # --- parts --------------------------------------------------------------------------------------------------------
    @property
    def _checkout(self) -> Path:
        assert self.world.programs.freshrss is not None
        return self.world.programs.freshrss.resolve()

    def _numbers(self) -> dict[int, int]:
        return {row[0]: number_of(row[1]) for row in self._connection.execute(f"SELECT id, url FROM {PREFIX}feed")}

    def _php(self, script: str, *arguments: str) -> str:
        folder = self.world.folder
        environment: Mapping[str, str] = {"DATA_PATH": f"{folder}/data", "TMPDIR": f"{folder}/tmp"}
        return self.run([_found("php"), self._checkout / script, *arguments], environment=environment)

    def _execute(self, statement: str, parameters: list[int] | None = None) -> None:
        self._connection.execute(statement.format(PREFIX).encode(), parameters)

    def _opener(self, cookies: CookieJar | None = None) -> OpenerDirector:
        return build_opener(HTTPCookieProcessor(cookies))


def _found(program: str) -> str:
    return shutil.which(program) or shutil.which(program, path="/usr/sbin") or ""


def _php_fpm() -> str:
    named = sorted(Path("/usr/sbin").glob("php-fpm*"))
    return _found("php-fpm") or (str(named[-1]) if named else "")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port
