from django.urls import path

from apps.websub.views import callback

urlpatterns = [
    path("push/<str:token>/", callback, name="push"),
]
