from django.urls import path

from apps.accounts import views

urlpatterns = [
    path("preferences/", views.preferences, name="preferences"),
]
