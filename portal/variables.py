"""The environment variables of the program, read and checked once.

`portal.settings` imports all names; `manage.py up` reads them before it starts anything. The comments that begin with
`#:` are the text of docs/configuration.md, which `python3 docs/write.py settings` writes.
"""

from pathlib import Path

from portal import environment
from portal.launcher import embedded

BASE_DIR = Path(__file__).resolve().parent.parent
_YEAR = 366  # days
_STORAGE = "django.core.files.storage.FileSystemStorage"
# Read elsewhere: by manage.py before there are settings, and by tests.
OTHERS = {
    "WIREBEAT_CHROMIUM", "WIREBEAT_CONTRACT_CASES", "WIREBEAT_CONTRACT_IDS", "WIREBEAT_CONTRACT_SITE",
    "WIREBEAT_NO_VENV", "WIREBEAT_RANDOM_QUERIES", "WIREBEAT_SIMULTANEOUS_STARTS", "WIREBEAT_SYNC_ITEMS",
    "WIREBEAT_THROWAWAY",
}  # fmt: skip
_BROKERS = ("redis", "rediss", "redis+socket", "amqp", "amqps", "pyamqp")
_CACHES = ("redis", "rediss", "unix")

## Basics
#: Folder for data, logs and the secret key.
#: Default: `var/` in the checkout
VAR_DIR = environment.folder("WIREBEAT_VAR", BASE_DIR / "var")
#: Public address of the portal, which may have a path: `https://example.org/news`. It appears in mails and in the user
#: agent that publishers see, and hubs call back to it.
PROJECT_URL = environment.site("WIREBEAT_URL", "http://localhost:8000")

## Web site and logs
#: Show error pages with details. For development only.
DEBUG = environment.truth("WIREBEAT_DEBUG", False)
#: Host names that the portal answers to, separated by commas.
#: Default: localhost
ALLOWED_HOSTS = environment.hosts("WIREBEAT_HOSTS", "localhost,127.0.0.1,[::1]")
#: Origins such as `https://news.example` whose forms may post to the portal, separated by commas.
CSRF_TRUSTED_ORIGINS = environment.origins("WIREBEAT_ORIGINS")
#: Time zone of mails, and of pages whose reader's browser and account name none, such as `Europe/Lisbon`.
TIME_ZONE = environment.time_zone("WIREBEAT_TIME_ZONE", "UTC")
#: Colours for visitors and new accounts: those of the device, or always the same.
DEFAULT_THEME = environment.choice("WIREBEAT_THEME", "auto", "light", "dark", "contrast")
#: Set to `yes` behind a proxy that terminates TLS: cookies become secure, and HSTS is sent.
BEHIND_TLS = environment.truth("WIREBEAT_TLS", False)
#: Number of your proxies that write `X-Forwarded-For`. Sign-ins are limited by the address that the first of them saw.
#: Default: 1 with `WIREBEAT_TLS`, else 0
ALLAUTH_TRUSTED_PROXY_COUNT = environment.whole("WIREBEAT_PROXIES", 1 if BEHIND_TLS else 0, at_most=20)
#: Token for `/metrics`, sent as `Authorization: Bearer …`. Without one, only direct requests from private addresses
#: are answered.
METRICS_TOKEN = environment.token("WIREBEAT_METRICS_TOKEN")
#: With `json`, the web process, the workers and beat write one JSON object per line, with request and task ids.
LOG_FORMAT = environment.choice("WIREBEAT_LOG_FORMAT", "text", "json")
#: The least severe messages that are logged.
LOG_LEVEL = environment.choice("WIREBEAT_LOG_LEVEL", "info", "debug", "warning", "error", "critical").upper()

## Servers and storage
#: Postgres 15 or newer: `postgresql://user:password@host:5432/name`.
#: Default: embedded Postgres
DATABASE = environment.database("DATABASE_URL", embedded.database_url(VAR_DIR))
#: Name of the database that the tests create.
TEST_DATABASE = environment.text("WIREBEAT_TEST_DATABASE", "test_wirebeat")
#: Cache: `redis://…` or `unix://…?db=1`.
#: Default: embedded Valkey
CACHE_URL = environment.server("CACHE_URL", embedded.cache_url(VAR_DIR), _CACHES)
#: Message broker: `redis://…`, `redis+socket://…` or `amqp://…`.
#: Default: embedded Valkey
CELERY_BROKER_URL = environment.server("BROKER_URL", embedded.broker_url(VAR_DIR), _BROKERS)
#: Storage class of Django for fetched documents, such as `storages.backends.s3.S3Storage`. Its package must be
#: installed.
#: Default: files
DOCUMENTS_STORAGE = environment.class_path("WIREBEAT_DOCUMENTS_STORAGE", _STORAGE)
#: Options of that class, for example `{"bucket_name": "wirebeat", "endpoint_url": "https://…"}`.
#: Default: the folder `documents` in `WIREBEAT_VAR`
DOCUMENTS_OPTIONS = environment.options("WIREBEAT_DOCUMENTS_OPTIONS", {"location": str(VAR_DIR / "documents")})
#: Days for which fetched article pages are kept.
DOCUMENT_DAYS = environment.whole("WIREBEAT_DOCUMENT_DAYS", 30, at_least=1, at_most=100 * _YEAR)
#: Days for which the log of checks is kept.
RETRIEVAL_LOG_DAYS = environment.whole("WIREBEAT_RETRIEVAL_LOG_DAYS", 30, at_least=1, at_most=100 * _YEAR)
#: Megabytes of proxied pictures stored per day. Beyond that, pictures are fetched again for each reader.
PICTURES_MB = environment.whole("WIREBEAT_PICTURES_MB", 1_000, at_most=10**9)
#: Gigabytes for the database and the fetched article pages. Beyond them the articles that were stored first are deleted
#: each night, unless someone starred or annotated them. 0 is no limit.
QUOTA_BYTES = environment.whole("WIREBEAT_QUOTA_GB", 0, at_most=10**6) * 10**9

## Mail and accounts
#: Mail server: `smtp://user:password@host:port`, `smtps://…` or `smtp+tls://…`.
MAIL = environment.mail_server("EMAIL_URL")
#: Mail backend of Django.
#: Default: SMTP with `EMAIL_URL`, else the console
EMAIL_BACKEND = environment.class_path(
    "EMAIL_BACKEND", f"django.core.mail.backends.{'smtp' if MAIL.host else 'console'}.EmailBackend"
)
#: Sender of the portal's mails.
DEFAULT_FROM_EMAIL = environment.mail_address("WIREBEAT_FROM_EMAIL", "wirebeat@localhost")
#: Domain of the addresses for newsletters, whose mail server pipes them into `manage.py receive_mail`. Without it no
#: newsletters are offered.
NEWSLETTER_DOMAINS = environment.hosts("WIREBEAT_NEWSLETTER_DOMAIN", "")
#: Who can sign up: all visitors, holders of an invitation link from an admin, or none.
SIGN_UP = environment.choice("WIREBEAT_SIGN_UP", "open", "invited", "closed")
#: Whether people confirm their mail address. With `mandatory`, every account needs one.
#: Default: `optional` with `EMAIL_URL`, else `none`
ACCOUNT_EMAIL_VERIFICATION = environment.choice(
    "WIREBEAT_EMAIL_VERIFICATION", *(("optional", "none") if MAIL.host else ("none", "optional")), "mandatory"
)
#: OpenID providers, one object or a list: `{"id": "acme", "name": "Acme", "server": "https://id.acme.example",
#: "client_id": "…", "secret": "…"}`. The callback address is `/accounts/oidc/acme/login/callback/`.
#: `[]` allows providers that are added in the administration alone.
OIDC = environment.identity_providers("WIREBEAT_OIDC")

## Checking feeds
#: Hosts in private networks that the portal may connect to, see [Private networks](#private-networks).
RETRIEVAL_OPEN_HOSTS = environment.open_hosts("WIREBEAT_OPEN_HOSTS")
#: Whether the portal checks a few feeds of its catalogue even while no user follows them, so that its front page has
#: news from the first minute.
STARTER_EDITION = environment.truth("WIREBEAT_STARTER_EDITION", True)
#: Least number of seconds between two checks of a feed. An admin can set a shorter gap for a single feed.
RETRIEVAL_MIN_GAP = environment.number("WIREBEAT_MIN_GAP", 3600, at_most=_YEAR * 86_400)  # s
#: Seconds between two requests to one host.
RETRIEVAL_HOST_GAP = environment.number("WIREBEAT_HOST_GAP", 1.0, at_most=86_400)  # s
#: Sites crawled at the same time, over all workers.
RETRIEVAL_CRAWLS = environment.whole("WIREBEAT_CRAWLS", 4, at_least=1, at_most=10_000)
#: Number of retrieval queues, the same for all processes, see [Several machines](deployment.md#several-machines).
RETRIEVAL_QUEUES = environment.whole("WIREBEAT_RETRIEVAL_QUEUES", 1, at_least=1, at_most=64)
#: Whether the portal subscribes to hubs (WebSub, rssCloud). With `auto` it does if `WIREBEAT_URL` is publicly
#: reachable.
PUSH_MODE = environment.choice("WIREBEAT_PUSH", "auto", "on", "off")

## Secret key
#: Key that signs sessions and links, and encrypts passwords and tokens of services that people send articles to.
#: Default: created in `WIREBEAT_VAR` on first start
SECRET_KEY = environment.secret_key("WIREBEAT_SECRET_KEY", VAR_DIR / "secret_key")
environment.refuse_unknown(OTHERS)
