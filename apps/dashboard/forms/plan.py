"""The form of the retrieval plan."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.retrieval.models import Plan
from apps.retrieval.policies import SAME, all_policies


def _policies() -> list[tuple[str, str]]:
    return [(policy.name, gettext(policy.label)) for policy in all_policies().values()]


def _pages_policies() -> list[tuple[str, str]]:
    return [(SAME, gettext("Same as feeds"))] + [
        (policy.name, gettext(policy.label)) for policy in all_policies().values() if policy.for_pages
    ]


class PlanForm(forms.Form):
    policy = forms.ChoiceField(
        choices=_policies,
        label=_("Scheduling policy"),
        help_text=_(
            "The first is Wirebeat's own and has the shortest delay; the others are published policies, for comparison."
        ),
    )
    pages_policy = forms.TypedChoiceField(
        choices=_pages_policies,
        required=False,
        empty_value=None,
        label=_("Pages without a feed"),
        help_text=_("Only a check shows whether they have changed; CAM learns when they do."),
    )
    budget = forms.FloatField(
        min_value=0,
        label=_("Checks"),
        help_text=_("More checks bring news sooner, but put more load on sites."),
    )
    unit = forms.ChoiceField(choices=Plan.Unit.choices, label=_("Unit"))
    longest_gap = forms.FloatField(
        min_value=1,
        max_value=168,
        label=_("Longest gap, in hours"),
        help_text=_(
            "Every feed is checked after this time, however little is expected of it and whatever its priority."
        ),
    )
    interest_share = forms.FloatField(
        min_value=0,
        max_value=0.5,
        required=False,
        label=_("Alert priority share"),
        help_text=_(
            "Feeds that match saved searches are checked more often. Any other feed can lose at "
            "most this share of its checks, 0 to 0.5."
        ),
    )
