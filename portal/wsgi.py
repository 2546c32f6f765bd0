import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

application = get_wsgi_application()
_ = get_resolver().url_patterns  # loads all views before gunicorn forks, once instead of once in each process
gc.collect()
gc.freeze()  # or every full collection would look through all modules, a tenth of a second in which nobody is answered
