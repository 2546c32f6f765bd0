"""Fever's API, at the addresses that programs look for it at."""

from django.urls import path

from apps.api.dialects.fever.views import fever

urlpatterns = [
    path("fever/", fever, name="fever"),
    path("fever", fever),
    path("api/fever.php", fever),
]
