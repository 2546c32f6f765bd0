import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

application = get_wsgi_application()
_ = get_resolver().url_patterns  # loads all views once, before gunicorn forks
gc.collect()
gc.freeze()  # otherwise every full collection scans all modules, which blocks responses for a tenth of a second
