"""Helpers for the views of all apps."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TypeVar

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.forms import BaseForm
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.models import User

View = Callable[..., HttpResponseBase]
Found = TypeVar("Found")


class PersonsRequest(HttpRequest):
    """A request of a signed-in user, or of a program on behalf of one."""

    user: User


def for_staff(view: View) -> View:
    """Anonymous users are sent to the sign-in page; signed-in users who are not staff get 403."""

    @wraps(view)
    def guarded(request: HttpRequest, *arguments: object, **named: object) -> HttpResponseBase:
        if not request.user.is_staff:
            raise PermissionDenied("Only staff may open this page.")
        return view(request, *arguments, **named)

    return login_required(guarded)


def person_get(view: View) -> View:
    """A page of a signed-in user."""
    return require_safe(login_required(view))


def person_post(view: View) -> View:
    """A change by a signed-in user."""
    return require_POST(login_required(view))


def staff_get(view: View) -> View:
    """A page for staff."""
    return require_safe(for_staff(view))


def staff_post(view: View) -> View:
    """A change by staff."""
    return require_POST(for_staff(view))


def present(found: Found | None, problem: str) -> Found:
    """Returns what was found; raises Http404 if it is None."""
    if found is None:
        raise Http404(problem)
    return found


@contextmanager
def errors_in(form: BaseForm, *kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds end the block, and are shown with the form."""
    try:
        yield
    except kinds as error:
        form.add_error(None, str(error))


@contextmanager
def errors_shown(request: HttpRequest, *kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds end the block, and are shown as a message."""
    try:
        yield
    except kinds as error:
        messages.error(request, str(error))
