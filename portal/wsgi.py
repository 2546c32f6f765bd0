import gc
import os
from functools import cache
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.core.cache import caches
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.urls import reverse

from portal.databases import refuse_newer_schema

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")


@cache
def answer_pages() -> None:
    """Build once, before processes are forked, what their first pages and searches need.

    That is addresses, templates, translations, patterns, dictionaries and specialized bytecode.
    """
    host = [*settings.ALLOWED_HOSTS, "localhost"][0].lstrip("*.") or "localhost"
    for path, query in (("/", ""), ("/search/", "q=news")):
        environ = dict[str, object](HTTP_HOST=host, PATH_INFO=path, QUERY_STRING=query, HTTP_X_FORWARDED_PROTO="https")
        setup_testing_defaults(environ)
        b"".join(application(environ, lambda *_: len))
    connections.close_all()
    caches.close_all()


application = get_wsgi_application()
_ = reverse("home")  # loads all views and compiles their addresses once, before gunicorn forks
if refuse_newer_schema():
    answer_pages()
gc.collect()
gc.freeze()  # otherwise every full collection scans all modules, which blocks responses for a tenth of a second
