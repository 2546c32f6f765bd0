"""Signing in, the user, tokens and preferences."""

from hashlib import sha256

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts.middleware import impersonal
from apps.api.dialects.google_reader.views.endpoint import Call, done, endpoint, fields_of, text_response
from apps.api.formats.parameters import BadRequest
from apps.api.views.access import Refused, person_by

TOKEN_LENGTH = 57  # characters: some clients count them


@impersonal
@csrf_exempt
@require_http_methods(["POST"])
def client_login(request: HttpRequest) -> HttpResponse:
    """Expects `Email`, and an app token as `Passwd`, which the response contains again.

    A token in the query is refused, because addresses are logged.
    """
    if "Passwd" in request.GET:
        return text_response("Send Passwd in the body of the request.", 400)
    try:
        fields = fields_of(request)
        secret = fields.one("Passwd")
        person = person_by(request, secret, name=fields.one("Email"), now=now())
    except Refused as refused:
        return text_response("Error=BadAuthentication", refused.status)
    except BadRequest as error:
        return text_response(str(error), 400)
    auth = f"{person.get_username()}/{secret}"
    response: HttpResponse
    if fields.one("output") == "json":
        response = JsonResponse({"SID": auth, "LSID": "null", "Auth": auth})
    else:
        response = text_response(f"SID={auth}\nLSID=null\nAuth={auth}")
    response["Cache-Control"] = "no-store"
    return response


@endpoint()
def token(call: Call) -> HttpResponse:
    """The CSRF token that clients return as T. It is not checked: requests are authenticated by a header, which
    browsers never send by themselves.
    """
    return text_response(sha256(f"T of {call.person.pk}".encode()).hexdigest()[:TOKEN_LENGTH])


@endpoint()
def greet(call: Call) -> HttpResponse:
    return done()
