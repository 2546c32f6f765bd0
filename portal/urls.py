from django.contrib import admin
from django.urls import include, path

from portal import stuck, unavailable

urlpatterns = [
    path("", include("apps.reading.urls")),
    path("", include("apps.push.urls")),
    path("desk/stuck/", stuck.index, name="stuck"),
    path("desk/stuck/decide/", stuck.decide, name="decide_stuck"),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
handler500 = unavailable.answer
