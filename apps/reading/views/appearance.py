"""The portal's language and theme, also for visitors."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from apps.accounts import actions
from apps.accounts.context_processors import chosen_theme, remember
from apps.accounts.forms import AppearanceForm
from apps.accounts.models import User
from apps.web.views.rendering import back, show


@require_http_methods(["GET", "HEAD", "POST"])
def appearance(request: HttpRequest) -> HttpResponse:
    """Set both, and redirect to the previous page."""
    person, cookies = request.user, request.COOKIES
    language = person.language if isinstance(person, User) else cookies.get(settings.LANGUAGE_COOKIE_NAME, "")
    form = AppearanceForm(request.POST or None, initial={"theme": chosen_theme(request), "language": language})
    if request.method == "POST" and form.is_valid():
        response = back(request, "home")
        theme, language = form.cleaned_data["theme"], form.cleaned_data["language"]
        if isinstance(request.user, User):
            actions.set_preferences(request.user, theme=User.Theme(theme), language=language)
        else:
            remember(response, theme=theme, language=language)
        return response
    wanted = request.POST.get("next") or request.GET.get("next", "")
    return show(request, "reading/appearance.html", form=form, next=wanted)
