"""One module for each dialect that programs speak here."""

from django.urls import URLPattern, URLResolver

from apps.api.urls import rest

urlpatterns: list[URLPattern | URLResolver] = [*rest.urlpatterns]
