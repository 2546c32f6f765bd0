"""The form of a source of any kind."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.sources.formats.expressions import MAX_EXPRESSION_LENGTH, BadExpression, regex
from apps.sources.formats.podcast_pages import MAX_PAGES
from apps.sources.formats.recipes import Recipe
from apps.sources.kinds import DEFAULT, SourceKind, all_kinds, kind_of
from apps.sources.models import Source
from apps.web.pages.reasons import translate_reason

_PATHS: Mapping[str, tuple[Promise, Promise]] = {  # label and help text by the recipe's field
    "channel": (
        _("Channel path"),
        _("The part of the document in which items are found. Leave empty for the whole document."),
    ),
    "item": (_("Item path"), _("Finds each item. For a regular expression: the text between items.")),
    "title": (_("Title path"), _("Inside the item.")),
    "description": (_("Text path"), _("Inside the item.")),
    "link": (
        _("Link path"),
        _(
            "Inside the item: a link, or its text. An address that begins with http is used for "
            "all items. For a podcast: the tag with the recording, if it is not the link."
        ),
    ),
    "date": (_("Date path"), _("Inside the item. Leave empty to use the time when it was found.")),
    "image": (_("Image path"), _("Inside the item; with ^ in front, inside the channel, one image for all items.")),
    "author": (_("Author path"), _("Inside the item.")),
    "more": (
        _("Pages to follow"),
        _(
            "One line for each page on the way to the recording, the last for the recording "
            "itself: an XPath, or a regular expression whose first group is the address. With "
            "json|a|b after it, the match of a regular expression is parsed as JSON, and the "
            "value of these keys is the address."
        ),
    ),
}
PRIVATE = _(
    "This feed is private: listing it or changing its address requires the permission to open private articles."
)
PREFIX = "path_"  # of the recipe's fields


@dataclass(frozen=True, slots=True)
class Part:
    """One field with the interface of a form, for the form's partial; without kinds it is for all of them."""

    field: BoundField
    kinds: str

    non_field_errors = hidden_fields = ()

    @property
    def visible_fields(self) -> Sequence[BoundField]:
        return [self.field]


def offered() -> list[SourceKind]:
    return [kind for kind in all_kinds().values() if kind.is_offered]


def _choices() -> list[tuple[str, str]]:
    return [(kind.name, gettext(kind.label)) for kind in offered()]


def _names(kinds: Iterable[SourceKind]) -> str:
    return " ".join(kind.name for kind in kinds)


class SourceForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes none when it runs
    kind = forms.TypedChoiceField(choices=_choices, required=False, empty_value=DEFAULT, label=_("Kind"))
    weight = forms.FloatField(
        label=_("Weight"),
        min_value=0,
        max_value=1_000,
        initial=1.0,
        help_text=Source._meta.get_field("weight").help_text,
    )
    example = forms.CharField(
        max_length=500,
        required=False,
        label=_("The title of one item"),
        help_text=_("Exactly as in the document. Wirebeat then proposes paths that find it and similar items."),
    )

    why = forms.CharField(
        max_length=300,
        required=False,
        label=_("Reason"),
        help_text=_("Optional; recorded in the change log."),
    )

    class Meta:
        model = Source
        labels = {
            "url": _("Address"),
            "title": _("Title"),
            "category": _("Category"),
            "language": _("Language"),
            "full_text": _("Fetch full text of excerpts"),
            "expiry_days": _("Days to keep articles"),
            "stop_regex": _("Stop words (regular expression)"),
            "weight": _("Weight"),
            "min_gap": _("Minimum gap between checks, in seconds"),
            "listed": _("Listed"),
            "always_retrieved": _("Always checked"),
        }
        fields = ["kind", *labels]
        widgets = {"url": forms.TextInput, "title": forms.TextInput, "stop_regex": forms.TextInput}

    def __init__(self, *args: Any, locked: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.locked = locked  # cannot be listed or get another address
        for name in ("url", "listed") if locked else ():
            self.fields[name].disabled = True
            self.fields[name].help_text = str(PRIVATE)
        self.kinds = offered()
        known = Recipe.from_json(self.instance.recipe).to_json()
        for name, (label, help_text) in _PATHS.items():
            lines = name == "more"
            plain = {"spellcheck": "false", "autocapitalize": "none", "class": "code"}
            self.fields[PREFIX + name] = forms.CharField(
                required=False,
                strip=False,
                max_length=MAX_EXPRESSION_LENGTH * (MAX_PAGES if lines else 1),
                label=str(label),
                help_text=str(help_text),
                initial=known.get(name, ""),
                widget=forms.Textarea(plain | {"rows": 4}) if lines else forms.TextInput(plain),
            )

    def _post_clean(self) -> None:
        """The form does not write: `sources.actions` does, and normalizes addresses."""

    def clean_stop_regex(self) -> str:
        expression: str = self.cleaned_data["stop_regex"]
        try:
            regex(expression)
        except BadExpression as error:
            raise forms.ValidationError(translate_reason(str(error))) from error
        return expression

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        for name, message in kind_of(self.typed_kind()).problems(self.typed_recipe()).items():
            if PREFIX + name not in self.errors:
                self.add_error(PREFIX + name, translate_reason(message))
        return cleaned

    def typed_kind(self) -> str:
        """The chosen kind, also of an invalid form."""
        typed = self["kind"].value()
        return typed if typed in dict(_choices()) else DEFAULT

    def typed_recipe(self) -> Recipe:
        """The typed recipe, without fields that the kind does not use."""
        typed = {field.name: self[PREFIX + field.name].value() or "" for field in fields(Recipe)}
        return kind_of(self.typed_kind()).own(Recipe(**typed))

    def values(self) -> dict[str, Any]:
        """The columns of a valid form."""
        columns = {name: self.cleaned_data[name] for name in self._meta.fields or () if not self.fields[name].disabled}
        return columns | {"recipe": self.typed_recipe().to_json()}

    def groups(self) -> Iterator[dict[str, Any]]:
        """The fields in the order of the page."""
        yield self._group("source", _("Feed"), ["url", "kind", "title", "category", "language"])
        paths = [
            Part(self[PREFIX + name], _names(kind for kind in self.kinds if name in kind.fields))
            for name in ("more", *(name for name in _PATHS if name != "more"))
        ]
        yield self._group("paths", _("Item paths"), paths, _names(kind for kind in self.kinds if kind.fields))
        kinds = _names(kind for kind in self.kinds if kind.propose)
        yield self._group("proposals", _("Propose paths"), ["example"], kinds)
        yield self._group("keeping", _("Texts and retention"), ["full_text", "expiry_days", "stop_regex"])
        yield self._group(
            "asking", _("Checks and visibility"), ["weight", "min_gap", "listed", "always_retrieved", "why"]
        )

    def _group(self, name: str, legend: Promise, members: Sequence[str | Part], kinds: str = "") -> dict[str, Any]:
        parts = [each if isinstance(each, Part) else Part(self[each], "") for each in members]
        return {"name": name, "legend": legend, "kinds": kinds, "parts": parts}


# --- crawls -----------------------------------------------------------------------------------------------------------
_TAG = re.compile(r"[a-z][a-z0-9]{0,30}(?:-[a-z0-9]+)*")
MAX_TAGS = 200


def _limit(label: Any, help_text: Any, least: int, most: int, usual: int) -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=help_text, min_value=least, max_value=most, initial=usual)


class CrawlForm(forms.Form):
    pages_per_day = _limit(_("Pages per day"), _("Maximum number of page requests."), 0, 1_000_000, 2_000)
    max_pages = _limit(_("Pages in total"), _("Maximum number of pages to remember."), 1, 10_000_000, 100_000)
    max_index_pages = _limit(
        _("Index pages"), _("Checked like feeds; each uses a share of the planned checks."), 0, 10_000, 100
    )
    max_depth = _limit(_("Depth"), _("Maximum number of links from the first page."), 1, 100, 6)


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
