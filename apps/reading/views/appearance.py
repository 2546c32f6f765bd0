"""The language and the colours of the portal, for visitors too."""

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
    """Choose both, and go back to where one came from."""
    form = AppearanceForm(
        request.POST or None, initial={"theme": chosen_theme(request), "language": _language(request)}
    )
    if request.method == "POST" and form.is_valid():
        answer = back(request, "home")
        theme, language = form.cleaned_data["theme"], form.cleaned_data["language"]
        if isinstance(request.user, User):
            actions.set_preferences(request.user, theme=User.Theme(theme), language=language)
        else:
            remember(answer, theme=theme, language=language)
        return answer
    wanted = request.POST.get("next") or request.GET.get("next", "")
    return show(request, "reading/appearance.html", form=form, next=wanted)


def _language(request: HttpRequest) -> str:
    if isinstance(request.user, User):
        return request.user.language
    return request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
