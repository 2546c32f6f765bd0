"""ClientLogin: a program tells who it is, and is told what to say from then on."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts.middleware import impersonal
from apps.api.dialects.google_reader.formats.forms import BadField
from apps.api.dialects.google_reader.views.endpoint import fields_of, said
from apps.api.views.access import Refused, person_by


@impersonal
@csrf_exempt
@require_http_methods(["POST"])
def client_login(request: HttpRequest) -> HttpResponse:
    """`Email` and `Passwd`, which is an app token. The answer holds that token: revoked, it is worth nothing.

    A token in the address is refused, as Google's own ClientLogin did: addresses are written into logs.
    """
    if "Passwd" in request.GET:
        return said("Send Passwd in the body of the request.", 400)
    try:
        fields = fields_of(request)
        secret = fields.one("Passwd")
        person = person_by(request, secret, name=fields.one("Email"), now=now())
    except Refused as refused:
        return said("Error=BadAuthentication", refused.status)
    except BadField as error:
        return said(str(error), 400)
    auth = f"{person.get_username()}/{secret}"
    answer: HttpResponse
    if fields.one("output") == "json":
        answer = JsonResponse({"SID": auth, "LSID": "null", "Auth": auth})
    else:
        answer = said(f"SID={auth}\nLSID=null\nAuth={auth}")
    answer["Cache-Control"] = "no-store"
    return answer
