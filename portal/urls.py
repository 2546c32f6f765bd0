from django.contrib import admin
from django.urls import include, path

from portal import unavailable

urlpatterns = [
    path("", include("apps.reading.urls")),
    path("", include("apps.push.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
handler404 = "apps.reading.views.plain.not_there"
handler500 = unavailable.answer
