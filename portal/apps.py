from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "portal"

    def ready(self) -> None:
        # Commands and pages send tasks, too. Not in `__init__`, which is imported before any package is installed.
        import portal.celery  # noqa: F401, PLC0415
