"""Addresses of Fever's API, as clients expect them."""

from django.urls import path

from extensions.dialects.fever.views import fever

urlpatterns = [
    path("fever/", fever, name="fever"),
    path("fever", fever),
    path("api/fever.php", fever),
]
