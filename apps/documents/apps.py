from django.apps import AppConfig
from django.core.files.storage import storages


class DocumentsConfig(AppConfig):
    name = "apps.documents"

    def ready(self) -> None:
        _ = storages["documents"]  # a misconfigured storage fails at the start
