"""All settings, top to bottom. What differs between machines comes from the environment (see README, Operating)."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from apps.retrieval.queues import all_queues
from portal import brokers, embedded, environment

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(environment.text("WIREBEAT_VAR", str(BASE_DIR / "var")))

VERSION = "0.1.0"
PROJECT_URL = environment.text("WIREBEAT_URL", "http://localhost:8000")  # also told to the sources that are asked

# --- safety -----------------------------------------------------------------------------------------------------------
DEBUG = environment.truth("WIREBEAT_DEBUG", False)
SECRET_KEY = environment.secret_key("WIREBEAT_SECRET_KEY", VAR_DIR / "secret_key")
ALLOWED_HOSTS = environment.words("WIREBEAT_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("WIREBEAT_ORIGINS")
BEHIND_TLS = environment.truth("WIREBEAT_TLS", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]  # machines ask from inside, without the proxy
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 24 * 3600
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 2**20  # an OPML list of 10 MB is the largest thing that people send
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "worker-src": [SELF],
        "img-src": [SELF, "data:"],  # for who wishes pictures from their sites, see reading.views.rendering
        "media-src": [SELF, "https:", "http:"],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# --- what the portal is made of ---------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "portal",
    "apps.accounts",
    "apps.documents",
    "apps.jobs",
    "apps.sources",
    "apps.postings",
    "apps.following",
    "apps.retrieval",
    "apps.search",
    "apps.summaries",
    "apps.trending",
    "apps.stories",
    "apps.push",
    "apps.notices",
    "apps.recommendations",
    "apps.alerts",
    "apps.publishing",
    "apps.belongings",
    "apps.reading",
    "apps.api",
    "apps.replay",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "csp",
    "django_celery_beat",
    "django_htmx",
    "ninja",  # the files of its page that documents our interface
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "portal.logs.with_request_id",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # pads its answers against guessing of secrets by their length
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.OwnZoneAndLanguage",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["apps.reading.templatetags.addresses"],  # a faster `url`
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.accounts.looks.looks",
            ],
        },
    }
]
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic before the first page
WHITENOISE_AUTOREFRESH = DEBUG

# --- what it remembers ------------------------------------------------------------------------------------------------
_database = environment.database("DATABASE_URL", embedded.database_url(VAR_DIR))
DATABASES = {
    "default": _database
    | {
        "OPTIONS": brokers.database_options(_database["OPTIONS"]),
        "CONN_MAX_AGE": 300,
        "CONN_HEALTH_CHECKS": True,  # after a restart of Postgres the first page per thread would be an error
        "TEST": {"NAME": environment.text("WIREBEAT_TEST_DATABASE", "test_wirebeat")},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
_cache_url = environment.text("CACHE_URL", embedded.cache_url(VAR_DIR))
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": _cache_url,
        "KEY_PREFIX": "wirebeat",
        "OPTIONS": brokers.cache_options(_cache_url),
    }
}
SESSION_ENGINE = "apps.accounts.sessions"
STORAGES = {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "documents": {
        "BACKEND": environment.text("WIREBEAT_DOCUMENTS_STORAGE", "django.core.files.storage.FileSystemStorage"),
        "OPTIONS": environment.options("WIREBEAT_DOCUMENTS_OPTIONS", {"location": str(VAR_DIR / "documents")}),
    },
}
DOCUMENT_DAYS = environment.whole("WIREBEAT_DOCUMENT_DAYS", 30, at_least=1)  # how long a posting's page is kept

# --- keepers ----------------------------------------------------------------------------------------------------------
METRICS_TOKEN = environment.text("WIREBEAT_METRICS_TOKEN")  # without one, private addresses alone may read the metrics

PROCESS_COMMANDS = "portal.startup.commands"  # which processes benchmarks start, and how
COUNT_STUCK_MESSAGES = "portal.set_aside.count_set_aside"  # what apps are told of messages that were set aside

# --- people -----------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_REDIRECT_URL = "river"
ACCOUNT_SIGNUP_REDIRECT_URL = "welcome"
LOGIN_URL = "account_login"
_mail = environment.mail_server("EMAIL_URL")
EMAIL_BACKEND = environment.text(
    "EMAIL_BACKEND", f"django.core.mail.backends.{'smtp' if _mail.host else 'console'}.EmailBackend"
)
EMAIL_HOST, EMAIL_PORT = _mail.host or "localhost", _mail.port or 25
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail.use_tls, _mail.use_ssl
EMAIL_TIMEOUT = 30  # s without an answer of the mail server
DEFAULT_FROM_EMAIL = environment.text("WIREBEAT_FROM_EMAIL", "wirebeat@localhost")

SIGN_UP = environment.choice("WIREBEAT_SIGN_UP", "open", "invited", "closed")
ACCOUNT_ADAPTER = "apps.accounts.adapters.AccountAdapter"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_EMAIL_VERIFICATION = environment.choice(
    "WIREBEAT_EMAIL_VERIFICATION", *(("optional", "none") if _mail.host else ("none", "optional")), "mandatory"
)
_email = "email*" if ACCOUNT_EMAIL_VERIFICATION == "mandatory" else "email"
ACCOUNT_SIGNUP_FIELDS = ["username*", _email, "password1*", "password2*"]
ACCOUNT_USERNAME_MIN_LENGTH = 2
ACCOUNT_MAX_EMAIL_ADDRESSES = 5
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Wirebeat: "
ACCOUNT_EMAIL_NOTIFICATIONS = bool(_mail.host)  # of every change that a thief would make
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # or strangers could have the portal write to strangers
ALLAUTH_TRUSTED_PROXY_COUNT = environment.whole("WIREBEAT_PROXIES", 1 if BEHIND_TLS else 0)
MFA_ADAPTER = "apps.accounts.adapters.TwoFactorAdapter"
MFA_FORMS = {"add_webauthn": "apps.accounts.forms.AddPasskeyForm"}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # an account needs no address at all
MFA_TOTP_ISSUER = "Wirebeat"
MFA_TOTP_TOLERANCE = 1  # codes before and after the present one, for clocks that are slow or fast
SOCIALACCOUNT_ADAPTER = "apps.accounts.adapters.ForeignAccountAdapter"
SOCIALACCOUNT_PROVIDERS: dict[str, dict[str, Any]] = {
    "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": environment.identity_providers("WIREBEAT_OIDC")}
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]  # each by its own name for itself
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE, LANGUAGE_COOKIE_SECURE, LANGUAGE_COOKIE_HTTPONLY = "Lax", BEHIND_TLS, True
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

# --- retrieval --------------------------------------------------------------------------------------------------------
# Requests reach the public internet alone, and these hosts, networks and ports (see algorithms/open_hosts.py).
RETRIEVAL_OPEN_HOSTS = environment.open_hosts("WIREBEAT_OPEN_HOSTS")
RETRIEVAL_MIN_GAP = environment.number("WIREBEAT_MIN_GAP", 3600, at_least=0)  # s; feeds are never asked more often
RETRIEVAL_HOST_GAP = environment.number("WIREBEAT_HOST_GAP", 1.0)  # s between two requests to a host
RETRIEVAL_CRAWLS = environment.whole("WIREBEAT_CRAWLS", 4, at_least=1)  # sites whose pages are fetched at a time
# Hosts may share out the sites: each runs workers that take from some of these queues alone.
RETRIEVAL_QUEUES = environment.whole("WIREBEAT_RETRIEVAL_QUEUES", 1, at_least=1)
RETRIEVAL_LOG_DAYS = environment.whole("WIREBEAT_RETRIEVAL_LOG_DAYS", 30, at_least=1)

# --- reading ----------------------------------------------------------------------------------------------------------
PICTURES_PER_DAY = environment.whole("WIREBEAT_PICTURES_MB", 1_000) * 10**6  # bytes of fetched pictures that are kept

# --- push -------------------------------------------------------------------------------------------------------------
# Hubs call us at PROJECT_URL: "auto" asks them to where that is an address that others can call.
PUSH_MODE = environment.choice("WIREBEAT_PUSH", "auto", "on", "off")

# --- publishing -------------------------------------------------------------------------------------------------------
# Hubs (WebSub) that are told what is new in our feeds. They are trusted: they may lie on the portal's own network.
PUBLISHING_HUBS = environment.addresses("WIREBEAT_HUB")

# --- Celery (its app is in portal/celery.py) --------------------------------------------------------------------------
CELERY_BROKER_URL = environment.text("BROKER_URL", embedded.broker_url(VAR_DIR))
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
_celery = brokers.celery_settings(CELERY_BROKER_URL, all_queues(RETRIEVAL_QUEUES))
vars().update({f"CELERY_{name.upper()}": value for name, value in _celery.items()})
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONSUMER = "portal.consumer:ReadingConsumer"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "apps.retrieval.beat.RetrievalScheduler"
CELERY_TIMEZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": "portal.logs.JsonFormatter"},
    },
    "filters": {"is_of_ours": {"()": "django.utils.log.CallbackFilter", "callback": "ext://portal.logs.is_of_ours"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": environment.choice("WIREBEAT_LOG_FORMAT", "text", "json"),
        }
    },
    "root": {"handlers": ["console"], "level": environment.text("WIREBEAT_LOG_LEVEL", "INFO")},
    "loggers": {
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "django.request": {"filters": ["is_of_ours"]},
    },
}
