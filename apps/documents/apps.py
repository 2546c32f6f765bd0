from django.apps import AppConfig
from django.core.files.storage import storages


class DocumentsConfig(AppConfig):
    name = "apps.documents"

    def ready(self) -> None:
        _ = storages["documents"]  # a storage that cannot be made stops the start, not the first document
