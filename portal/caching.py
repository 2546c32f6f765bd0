"""Who may keep an answer: middleware states it for every page, by the name of the page's address.

A page that is not named here is kept nowhere, and a test fails until somebody names it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers


@dataclass(frozen=True, slots=True)
class Caching:
    control: str  # Cache-Control (RFC 9111, section 5.2.2)
    vary: tuple[str, ...]


# The reader's own browser alone may keep it, and asks before it shows it again.
PERSONAL = Caching("private, no-cache", ("Cookie",))
# Nothing may keep it: secrets, tokens, exports, and what changes an account.
SECRET = Caching("private, no-store", ("Cookie",))
# For programs, which sign in with a header.
PROGRAM = Caching("private, no-cache", ("Authorization", "X-Auth-Token"))
# The view says it: the same for everybody, or the offline worker keeps it and checks its version by itself.
STATED_BY_VIEW = Caching("", ())

_BY_NAME: dict[str, Caching] = {
    name: caching
    for caching, names in {
        STATED_BY_VIEW: """
            live ready metrics image recording manifest service_worker offline_shell
            private_sources private_feed search_feed section_feed story_feed trends_feed
        """,
        SECRET: """
            shares shared saved_searches alert_rule alert_service alert_settings alert_stop alert_test_webhook
            alert_add_browser alert_remove_browser push opml_export offline_list offline_articles
            offline_changes
            greader_client_login greader_token greader_export
        """,
        PERSONAL: """
            home keys search_help section stories story trends catalogue search source
            river river_starred river_tag river_folder river_source mark_all seen undo
            posting mark tag menu mark_up_to note place share summary hide history clear_history notes tags change_tag
            save_search change_search alert_found alert_resume alert_messages alert_retry own learning
            add follow edit_follow unfollow folders arrange edit_folder delete_folder feed_health dismiss_notice
            mail_notices dismiss_notices dismiss_recommendation welcome filling opml preferences looks offline
            save_page buttons plan source_plan source_pages decide_page keen_tags
            sources add_source test_source curate edit_source merge_source delete_source set_source_state ask_source
            dashboard dashboard_failing dashboard_queues dashboard_users set_active dashboard_storage audit
            dead_letters decide_dead_letter
            sections add_section edit_section move_section delete_section jobs start_job job change_job
        """,
    }.items()
    for name in names.split()
}
_BY_ROUTE = {
    "accounts/": SECRET,  # allauth: signing in, passwords, second factors, sessions
    "account/": SECRET,
    "admin/": SECRET,
    "v1/export": SECRET,
    "api/v1/opml": SECRET,
    "v1/": PROGRAM,  # Miniflux
    "api/v1/": PROGRAM,
    "api/fever.php": PROGRAM,
    "fever": PROGRAM,
    "^[/]*": PROGRAM,  # Google Reader
}


def caching_of(route: str, name: str) -> Caching | None:
    """What is stated for an address, by its name or the beginning of its route; None if nothing is."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((caching for beginning, caching in _BY_ROUTE.items() if route.startswith(beginning)), None)


def with_caching(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: every answer of a view, also a refusal, says who may keep it."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        match = request.resolver_match
        if match is None:  # no such page, or a refusal before one was looked for
            return _stated(response, PERSONAL)
        return _stated(response, caching_of(match.route, match.view_name) or SECRET)

    return middleware


def _stated(response: HttpResponseBase, caching: Caching) -> HttpResponseBase:
    present = response.headers.get("Cache-Control", "")
    if caching is STATED_BY_VIEW:
        if present:
            return response
        caching = PERSONAL  # the page that says that there is no such thing
    if "no-store" not in present:
        response.headers["Cache-Control"] = caching.control
    patch_vary_headers(response, caching.vary)
    return response
