"""The sidebar on pages about an account, whose views are in layers below or in allauth."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.web.pages.sidebar import sidebar

OF_ACCOUNTS = ("/account/", "/accounts/")


def sidebar_of_account(request: HttpRequest) -> dict[str, object]:
    """Lazy, because only whole pages have it."""
    user = getattr(request, "user", None)
    if not request.path_info.startswith(OF_ACCOUNTS) or user is None:
        return {}
    return {"sidebar": SimpleLazyObject(lambda: sidebar(user) if user.is_authenticated else None)}
