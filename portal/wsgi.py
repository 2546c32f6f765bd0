import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

from portal.databases import refuse_newer_schema

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

application = get_wsgi_application()
refuse_newer_schema()
_ = reverse("home")  # loads all views and compiles their addresses once, before gunicorn forks
gc.collect()
gc.freeze()  # otherwise every full collection scans all modules, which blocks responses for a tenth of a second
