from django.urls import path

from apps.push.views import callback

urlpatterns = [
    path("push/<str:token>/", callback, name="push"),
]
