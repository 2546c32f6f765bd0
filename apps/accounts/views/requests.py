"""What the views of all apps share: who may come in, and whether what they ask for exists."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from apps.accounts.models import User

View = Callable[..., HttpResponseBase]
Found = TypeVar("Found")


class PersonsRequest(HttpRequest):
    """A request of somebody who is signed in, or of a program that acts for them."""

    user: User


def for_staff(view: View) -> View:
    """Anonymous users are sent to the sign-in page; signed-in users who are not staff get 403."""

    @wraps(view)
    def guarded(request: HttpRequest, *arguments: object, **named: object) -> HttpResponseBase:
        if not request.user.is_staff:
            raise PermissionDenied("Only staff may open this page.")
        return view(request, *arguments, **named)

    return login_required(guarded)


def present(found: Found | None, problem: str) -> Found:
    """What was found. Raises Http404 with the problem, if that is None."""
    if found is None:
        raise Http404(problem)
    return found
