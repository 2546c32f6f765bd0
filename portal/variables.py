"""What differs between machines: every environment variable of the program, read and checked once.

`manage.py up` reads them before it starts anything, and the settings name what they mean. README explains them.
"""

from pathlib import Path

from portal import environment
from portal.launcher import embedded

BASE_DIR = Path(__file__).resolve().parent.parent
YEAR = 366  # days
STORAGE = "django.core.files.storage.FileSystemStorage"
# Read elsewhere: by manage.py before there are settings, and by tests.
OTHERS = {
    "WIREBEAT_CHROMIUM",
    "WIREBEAT_CONTRACT_CASES",
    "WIREBEAT_CONTRACT_IDS",
    "WIREBEAT_CONTRACT_SITE",
    "WIREBEAT_NO_VENV",
    "WIREBEAT_RANDOM_QUERIES",
    "WIREBEAT_SIMULTANEOUS_STARTS",
    "WIREBEAT_THROWAWAY",
}
BROKERS = ("redis", "rediss", "redis+socket", "amqp", "amqps", "pyamqp")
CACHES = ("redis", "rediss", "unix")

VAR_DIR = environment.folder("WIREBEAT_VAR", BASE_DIR / "var")
PROJECT_URL = environment.site("WIREBEAT_URL", "http://localhost:8000")

DEBUG = environment.truth("WIREBEAT_DEBUG", False)
HOSTS = environment.hosts("WIREBEAT_HOSTS", "localhost,127.0.0.1,[::1]")
ORIGINS = environment.origins("WIREBEAT_ORIGINS")
TLS = environment.truth("WIREBEAT_TLS", False)
PROXIES = environment.whole("WIREBEAT_PROXIES", 1 if TLS else 0, at_most=20)
METRICS_TOKEN = environment.token("WIREBEAT_METRICS_TOKEN")
LOG_FORMAT = environment.choice("WIREBEAT_LOG_FORMAT", "text", "json")
LOG_LEVEL = environment.choice("WIREBEAT_LOG_LEVEL", "info", "debug", "warning", "error", "critical").upper()

DATABASE = environment.database("DATABASE_URL", embedded.database_url(VAR_DIR))
TEST_DATABASE = environment.text("WIREBEAT_TEST_DATABASE", "test_wirebeat")
CACHE_URL = environment.server("CACHE_URL", embedded.cache_url(VAR_DIR), CACHES)
BROKER_URL = environment.server("BROKER_URL", embedded.broker_url(VAR_DIR), BROKERS)
DOCUMENTS_STORAGE = environment.class_path("WIREBEAT_DOCUMENTS_STORAGE", STORAGE)
DOCUMENTS_OPTIONS = environment.options("WIREBEAT_DOCUMENTS_OPTIONS", {"location": str(VAR_DIR / "documents")})
DOCUMENT_DAYS = environment.whole("WIREBEAT_DOCUMENT_DAYS", 30, at_least=1, at_most=100 * YEAR)
RETRIEVAL_LOG_DAYS = environment.whole("WIREBEAT_RETRIEVAL_LOG_DAYS", 30, at_least=1, at_most=100 * YEAR)
PICTURES_MB = environment.whole("WIREBEAT_PICTURES_MB", 1_000, at_most=10**9)

MAIL = environment.mail_server("EMAIL_URL")
EMAIL_BACKEND = environment.class_path(
    "EMAIL_BACKEND", f"django.core.mail.backends.{'smtp' if MAIL.host else 'console'}.EmailBackend"
)
FROM_EMAIL = environment.mail_address("WIREBEAT_FROM_EMAIL", "wirebeat@localhost")
SIGN_UP = environment.choice("WIREBEAT_SIGN_UP", "open", "invited", "closed")
EMAIL_VERIFICATION = environment.choice(
    "WIREBEAT_EMAIL_VERIFICATION", *(("optional", "none") if MAIL.host else ("none", "optional")), "mandatory"
)
OIDC = environment.identity_providers("WIREBEAT_OIDC")

OPEN_HOSTS = environment.open_hosts("WIREBEAT_OPEN_HOSTS")
MIN_GAP = environment.number("WIREBEAT_MIN_GAP", 3600, at_most=YEAR * 86_400)  # s
HOST_GAP = environment.number("WIREBEAT_HOST_GAP", 1.0, at_most=86_400)  # s
CRAWLS = environment.whole("WIREBEAT_CRAWLS", 4, at_least=1, at_most=10_000)
RETRIEVAL_QUEUES = environment.whole("WIREBEAT_RETRIEVAL_QUEUES", 1, at_least=1, at_most=64)
PUSH = environment.choice("WIREBEAT_PUSH", "auto", "on", "off")
HUBS = environment.addresses("WIREBEAT_HUB")

SECRET_KEY = environment.secret_key("WIREBEAT_SECRET_KEY", VAR_DIR / "secret_key")
environment.refuse_unknown(OTHERS)
