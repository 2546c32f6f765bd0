"""One module for each dialect that programs speak here."""

from django.urls import URLPattern, URLResolver, include, path

from apps.api.urls import fever, miniflux

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("apps.api.urls.google_reader")),
    *miniflux.urlpatterns,
    *fever.urlpatterns,
]
