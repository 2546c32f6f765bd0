"""Forms of a crawl's limits, and of a site's keen tags."""

import re

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

_TAG = re.compile(r"[a-z][a-z0-9]{0,30}(?:-[a-z0-9]+)*")
MAX_TAGS = 200


class CrawlForm(forms.Form):
    pages_per_day = forms.IntegerField(
        min_value=0,
        max_value=1_000_000,
        initial=2_000,
        label=_("Pages per day"),
        help_text=_("Maximum number of page requests."),
    )
    max_pages = forms.IntegerField(
        min_value=1,
        max_value=10_000_000,
        initial=100_000,
        label=_("Pages in total"),
        help_text=_("Maximum number of pages to remember."),
    )
    max_index_pages = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        initial=100,
        label=_("Index pages"),
        help_text=_("Checked like feeds; each uses a share of the planned checks."),
    )
    max_depth = forms.IntegerField(
        min_value=1,
        max_value=100,
        initial=6,
        label=_("Depth"),
        help_text=_("Maximum number of links from the first page."),
    )


class KeenTagsForm(forms.Form):
    tags = forms.CharField(
        required=False,
        max_length=5_000,
        label=_("Content tags"),
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocapitalize": "none"}),
        help_text=_(
            "Names of elements that can occur inside an article, separated by spaces. Leave empty for the default."
        ),
    )

    def clean_tags(self) -> frozenset[str] | None:
        names = self.cleaned_data["tags"].lower().replace("<", " ").replace(">", " ").replace(",", " ").split()
        for name in names:
            if not _TAG.fullmatch(name):
                raise forms.ValidationError(gettext("“{name}” is not the name of an element.").format(name=name[:40]))
        if len(names) > MAX_TAGS:
            words = gettext("These are {number} names; at most {most} are allowed.")
            raise forms.ValidationError(words.format(number=len(names), most=MAX_TAGS))
        return frozenset(names) or None
