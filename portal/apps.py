import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import django
from django.apps import AppConfig


def _load_ninja() -> None:
    """Load Ninja without Django's test client, all of which it imports for one signal: 2 MB of the portal."""
    package = ModuleType("django.test")
    package.__path__ = [str(Path(django.__file__).with_name("test"))]
    sys.modules[package.__name__] = package
    import_module("ninja.conf")  # loads `django.test.signals` itself
    del sys.modules[package.__name__]


if "django.test" not in sys.modules:
    _load_ninja()


class PortalConfig(AppConfig):
    name = "portal"

    def ready(self) -> None:
        # Commands and pages send tasks, too. Not in `__init__`, which is imported before any package is installed.
        import portal.celery  # noqa: F401, PLC0415
