"""The user, tokens and preferences."""

from hashlib import sha256

from django.http import HttpResponse

from apps.api.dialects.google_reader import schemas
from apps.api.dialects.google_reader.views.endpoint import Call, done, endpoint, respond, text_response

TOKEN_LENGTH = 57  # characters: some clients count them


@endpoint()
def token(call: Call) -> HttpResponse:
    """The CSRF token that clients return as T. It is not checked: requests are authenticated by a header, which
    browsers never send by themselves.
    """
    return text_response(sha256(f"T of {call.person.pk}".encode()).hexdigest()[:TOKEN_LENGTH])


@endpoint()
def user_info(call: Call) -> HttpResponse:
    return respond(schemas.user_info(call.person))


@endpoint()
def friends(call: Call) -> HttpResponse:
    return respond(schemas.friends(call.person))


@endpoint()
def preferences(call: Call) -> HttpResponse:
    """None: preferences apply to pages."""
    return respond({"prefs": []})


@endpoint()
def stream_preferences(call: Call) -> HttpResponse:
    return respond({"streamprefs": {}})


@endpoint()
def greet(call: Call) -> HttpResponse:
    return done()
