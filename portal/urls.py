from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("apps.reading.urls")),
    path("", include("apps.push.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
