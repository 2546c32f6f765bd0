"""All settings; those that differ between machines are read from the environment by `variables`."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONCE, NONE, SELF

from apps.retrieval.scheduler.queues import all_queues
from portal import brokers, variables
from portal.variables import *  # noqa: F403

VERSION = tomllib.loads((variables.BASE_DIR / "pyproject.toml").read_text("utf-8"))["project"]["version"]

# --- security ---------------------------------------------------------------------------------------------------------
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if variables.BEHIND_TLS else None
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]  # machines request these from inside, without the proxy
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = variables.BEHIND_TLS
SECURE_HSTS_SECONDS = 31_536_000 if variables.BEHIND_TLS else 0
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 24 * 3600
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 2**20  # the largest upload is an OPML list of 10 MB
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF, NONCE],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "worker-src": [SELF],
        # Plus other sites for users who load pictures and media directly, see web.views.rendering.
        "img-src": [SELF, "data:"],
        "media-src": [SELF],
        "frame-src": [SELF],  # for players of other sites, see reading.views.players
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# Below a path of a host, whose proxy takes the path away.
_path = urlsplit(variables.PROJECT_URL).path
FORCE_SCRIPT_NAME = _path or None
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = LANGUAGE_COOKIE_PATH = f"{_path}/"

# Templates and static files of the API's documentation: as an application, Ninja would be loaded by every process.
_NINJA = Path(str(distribution("django-ninja").locate_file("ninja")))

# --- applications -----------------------------------------------------------------------------------------------------
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
    "apps.websub",
    "apps.feed_health",
    "apps.newsletters",
    "apps.recommendations",
    "apps.alerts",
    "apps.published_feeds",
    "apps.account_data",
    "apps.web",
    "apps.reading",
    "apps.dashboard",
    "apps.api",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "csp",
    "django_celery_beat",
    "django_htmx",
    "django.contrib.admin.apps.SimpleAdminConfig",  # portal.urls loads its modules, and with them most of the program
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
]
if variables.OIDC is not None:  # it loads Requests
    INSTALLED_APPS.append("allauth.socialaccount.providers.openid_connect")
if (variables.BASE_DIR / "lab").is_dir():  # the demo, benchmarks and evaluations
    INSTALLED_APPS.append("lab")
MIDDLEWARE = [
    "portal.logs.with_request_id",
    "portal.encoding.reading_utf8",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # pads responses against guessing of secrets by their length
    "portal.encoding.CompressedStaticFiles",
    "whitenoise.middleware.WhiteNoiseMiddleware",  # static files, which any cache may keep
    "portal.caching.with_caching",
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
SILENCED_SYSTEM_CHECKS = ["templates.W003"]  # `i18n` is replaced on purpose
ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [variables.BASE_DIR / "templates", _NINJA / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["apps.web.templatetags.addresses"],  # a faster `url`
            "libraries": {"i18n": "apps.web.templatetags.texts"},  # a faster `translate`
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.accounts.context_processors.theme",
                "apps.web.context_processors.sidebar_of_account",
            ],
        },
    }
]
STATIC_URL = f"{_path}/static/"
STATICFILES_DIRS = [variables.BASE_DIR / "static", _NINJA / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic before the first page
WHITENOISE_AUTOREFRESH = variables.DEBUG

# --- storage ----------------------------------------------------------------------------------------------------------
DATABASES = {
    "default": variables.DATABASE
    | {
        "OPTIONS": brokers.database_options(variables.DATABASE["OPTIONS"]),
        "CONN_MAX_AGE": 300,
        "CONN_HEALTH_CHECKS": True,  # otherwise the first page per thread fails after a restart of Postgres
        "TEST": {"NAME": variables.TEST_DATABASE},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": variables.CACHE_URL,
        "KEY_PREFIX": "wirebeat",
        "OPTIONS": brokers.cache_options(variables.CACHE_URL),
    }
}
SESSION_ENGINE = "apps.accounts.sessions"
STORAGES = {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "documents": {
        "BACKEND": variables.DOCUMENTS_STORAGE,
        "OPTIONS": variables.DOCUMENTS_OPTIONS,
    },
}
# Documents may be of private feeds: other users of this machine must not read them.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700

# --- accounts ---------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "apps.accounts.hashers.SmallArgon2",
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
_mail = variables.MAIL
EMAIL_HOST, EMAIL_PORT = _mail.host or "localhost", _mail.port or 25
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.user, _mail.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail.use_tls, _mail.use_ssl
NEWSLETTER_DOMAIN = "".join(variables.NEWSLETTER_DOMAINS[:1])
EMAIL_TIMEOUT = 30  # s without a response of the mail server

ACCOUNT_ADAPTER = "apps.accounts.adapters.AccountAdapter"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_FORMS = {"login": "apps.accounts.forms.SignInForm"}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
_email = "email*" if variables.ACCOUNT_EMAIL_VERIFICATION == "mandatory" else "email"
ACCOUNT_SIGNUP_FIELDS = ["username*", _email, "password1*", "password2*"]
ACCOUNT_USERNAME_MIN_LENGTH = 2
# allauth's own limits are by the minute alone: a patient guesser has 1,440 TOTP codes a day under "5/5m/key".
ACCOUNT_RATE_LIMITS = {
    "login_failed": "10/m/ip,300/d/ip,5/5m/key,100/d/key",  # passwords, TOTP, recovery codes; the key is the account
    "reset_password": "20/m/ip,5/m/key,20/d/key",
    "signup": "20/m/ip,100/d/ip",
}
ACCOUNT_MAX_EMAIL_ADDRESSES = 5
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Wirebeat: "
ACCOUNT_EMAIL_NOTIFICATIONS = bool(_mail.host)  # for each change that a thief of a session would make
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # otherwise the portal would send mails to arbitrary addresses
MFA_ADAPTER = "apps.accounts.adapters.TwoFactorAdapter"
MFA_FORMS = {"add_webauthn": "apps.accounts.forms.AddPasskeyForm"}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # an account needs no address at all
MFA_TOTP_ISSUER = "Wirebeat"
MFA_TOTP_TOLERANCE = 1  # codes before and after the current one, for clocks that are slow or fast
SOCIALACCOUNT_ADAPTER = "apps.accounts.adapters.ForeignAccountAdapter"
SOCIALACCOUNT_PROVIDERS: dict[str, dict[str, Any]] = {
    "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": variables.OIDC or []}
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]  # in the languages themselves
LOCALE_PATHS = [variables.BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE, LANGUAGE_COOKIE_SECURE, LANGUAGE_COOKIE_HTTPONLY = "Lax", variables.BEHIND_TLS, True

# --- reading ----------------------------------------------------------------------------------------------------------
PICTURES_PER_DAY = variables.PICTURES_MB * 10**6  # bytes

# --- Celery (its app is in portal/celery.py) --------------------------------------------------------------------------
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
_celery = brokers.celery_settings(variables.CELERY_BROKER_URL, all_queues(variables.RETRIEVAL_QUEUES))
vars().update({f"CELERY_{name.upper()}": value for name, value in _celery.items()})
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONSUMER = "portal.consumer:ReadingConsumer"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "apps.retrieval.scheduler.beat.RetrievalScheduler"
CELERY_TIMEZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "portal.logs.TextFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": "portal.logs.JsonFormatter"},
    },
    "filters": {"is_of_ours": {"()": "django.utils.log.CallbackFilter", "callback": "ext://portal.logs.is_of_ours"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": variables.LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": variables.LOG_LEVEL},
    "loggers": {
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "django.request": {"filters": ["is_of_ours"]},
        "django.server": {"handlers": ["console"], "propagate": False},  # of `runserver`
    },
}
