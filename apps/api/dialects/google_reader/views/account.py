"""Who the person is, and what Google Reader kept of them besides."""

from hashlib import sha256

from django.http import HttpResponse

from apps.api.dialects.google_reader import schemas
from apps.api.dialects.google_reader.views.endpoint import Call, done, door, said, told

TOKEN_LENGTH = 57  # characters: some clients count them


@door()
def token(call: Call) -> HttpResponse:
    """What clients send back as T. It protects from nothing here, and is not looked at: a browser that is led astray
    brings cookies along, but never the header by which a program signs in.
    """
    return said(sha256(f"T of {call.person.pk}".encode()).hexdigest()[:TOKEN_LENGTH])


@door()
def user_info(call: Call) -> HttpResponse:
    return told(schemas.user_info(call.person))


@door()
def friends(call: Call) -> HttpResponse:
    return told(schemas.friends(call.person))


@door()
def preferences(call: Call) -> HttpResponse:
    """None: what people prefer here is of our own pages."""
    return told({"prefs": []})


@door()
def stream_preferences(call: Call) -> HttpResponse:
    return told({"streamprefs": {}})


@door()
def greet(call: Call) -> HttpResponse:
    return done()
