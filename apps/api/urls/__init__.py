"""One module for each dialect that programs speak here."""

from django.urls import URLPattern, URLResolver

from apps.api.urls import fever, miniflux

urlpatterns: list[URLPattern | URLResolver] = [*miniflux.urlpatterns, *fever.urlpatterns]
