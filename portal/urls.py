from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from portal import unavailable, variables

admin.autodiscover()
# Sign in by allauth, with its second factor and rate limits.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", include("apps.reading.urls")),
    path("", include("apps.dashboard.urls")),
    path("", include("apps.websub.urls")),
    path("", include("apps.published_feeds.urls")),
    path("", include("apps.api.urls")),
    path("accounts/", include("allauth.urls")),
    path("account/", include("apps.accounts.urls")),
    path("account/", include("apps.account_data.urls")),
    # Django's own page would allow unlimited guesses of the password.
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.urls),
]
if variables.OIDC is not None:
    from apps.accounts.views.elsewhere import sign_in_elsewhere

    urlpatterns.insert(0, path("accounts/oidc/<str:provider_id>/login/", sign_in_elsewhere))
handler404 = "apps.reading.views.news.not_found"
handler500 = unavailable.answer
