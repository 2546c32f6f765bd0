"""Cache-Control of every response, by the name of its URL.

The response of a URL that is missing here is not cached, and a test fails.
"""

from collections.abc import Callable
from typing import NamedTuple

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers


class Caching(NamedTuple):
    control: str  # Cache-Control (RFC 9111, section 5.2.2)
    vary: tuple[str, ...]


# Only the user's browser caches it, and revalidates it.
PERSONAL = Caching("private, no-cache", ("Cookie",))
# Never cached: secrets, tokens, exports, and pages that change an account.
SECRET = Caching("private, no-store", ("Cookie",))
# For API clients, which authenticate with a header.
PROGRAM = Caching("private, no-cache", ("Authorization", "X-Auth-Token"))
# The view sets it: public responses, and those whose version the service worker checks.
STATED_BY_VIEW = Caching("", ())

_BY_NAME: dict[str, Caching] = {
    name: caching
    for caching, names in {
        STATED_BY_VIEW: """
            live ready metrics image recording feed_icon manifest service_worker offline_shell
            private_sources private_feed search_feed section_feed
        """,
        SECRET: """
            shares shared saved_searches alert_rule alert_service alert_settings alert_stop alert_test_webhook
            alert_add_browser alert_remove_browser destinations remove_destination push opml_export
            newsletters export_markdown export_json
            offline_list offline_articles offline_changes
            greader_client_login greader_token greader_export
        """,
        PERSONAL: """
            home keys search_help section stories story trends catalogue search source
            river river_starred river_tag river_folder river_source mark_all seen undo refresh refreshed counts
            full_text player
            posting mark tag menu mark_up_to note place share summary hide history clear_history notes tags change_tag
            send leave_list compare_models
            highlights highlight change_highlight plain_rules new_rule plain_rule forget_rule change_newsletter
            save_search change_search alert_found alert_resume alert_messages alert_retry for_you learning
            add follow edit_follow unfollow folders new_folder show_feeds arrange edit_folder delete_folder feed_health
            dismiss_notice mail_notices dismiss_notices dismiss_recommendation welcome first_articles opml preferences
            appearance offline save_page buttons plan source_plan source_pages decide_page keen_tags
            sources add_source test_source curate edit_source merge_source delete_source set_source_state check_source
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
    """The rule for a URL, by its name or the beginning of its route; None if there is none."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((caching for beginning, caching in _BY_ROUTE.items() if route.startswith(beginning)), None)


def with_caching(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: sets Cache-Control of every response, errors included."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        match = request.resolver_match
        if match is None:  # not found, or refused before the URL was resolved
            return _stated(response, PERSONAL)
        return _stated(response, caching_of(match.route, match.view_name) or SECRET)

    return middleware


def _stated(response: HttpResponseBase, caching: Caching) -> HttpResponseBase:
    present = response.headers.get("Cache-Control", "")
    if caching is STATED_BY_VIEW:
        if present:
            return response
        caching = PERSONAL  # a 404 page of the view
    if "no-store" not in present:
        response.headers["Cache-Control"] = caching.control
    patch_vary_headers(response, caching.vary)
    return response
