"""Who the person is, and what Google Reader kept of them besides."""

from hashlib import sha256

from django.http import HttpResponse

from apps.api.dialects.google_reader import schemas
from apps.api.dialects.google_reader.views.endpoint import Call, done, endpoint, respond, said

TOKEN_LENGTH = 57  # characters: some clients count them


@endpoint()
def token(call: Call) -> HttpResponse:
    """What clients send back as T. It protects from nothing here, and is not looked at: a browser that is led astray
    brings cookies along, but never the header by which a program signs in.
    """
    return said(sha256(f"T of {call.person.pk}".encode()).hexdigest()[:TOKEN_LENGTH])


@endpoint()
def user_info(call: Call) -> HttpResponse:
    return respond(schemas.user_info(call.person))


@endpoint()
def friends(call: Call) -> HttpResponse:
    return respond(schemas.friends(call.person))


@endpoint()
def preferences(call: Call) -> HttpResponse:
    """None: what people prefer here is of our own pages."""
    return respond({"prefs": []})


@endpoint()
def stream_preferences(call: Call) -> HttpResponse:
    return respond({"streamprefs": {}})


@endpoint()
def greet(call: Call) -> HttpResponse:
    return done()
