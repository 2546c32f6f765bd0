import sys
from importlib import import_module
from types import ModuleType

from django.core import signals


def _load_ninja() -> None:
    """Load Ninja, which for one signal would import all of Django's test client: 2 MB."""
    stand_ins = {"django.test": ModuleType("django.test"), "django.test.signals": signals}
    sys.modules.update(stand_ins)
    try:
        import_module("ninja.conf")
    finally:
        for name in stand_ins:
            del sys.modules[name]


if "django.test" not in sys.modules:
    _load_ninja()

from apps.api import dialects  # noqa: E402

urlpatterns = dialects.urlpatterns()
