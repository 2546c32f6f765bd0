"""One module for each dialect that programs speak here."""

from django.urls import URLPattern, URLResolver

from apps.api.urls import fever, google_reader, miniflux, rest

urlpatterns: list[URLPattern | URLResolver] = [
    *google_reader.urlpatterns,
    *miniflux.urlpatterns,
    *fever.urlpatterns,
    *rest.urlpatterns,
]
