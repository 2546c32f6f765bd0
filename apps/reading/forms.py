from collections.abc import Collection
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Folder
from apps.reading.queries import SORTS, SourceFilter
from apps.retrieval.models import Plan
from apps.sources.formats.opml import LARGEST_DOCUMENT
from apps.sources.models import Source


def _folder_choices(folders: Collection[Folder]) -> list[tuple[int, str]]:
    """Folders under their whole paths, so that those of one name can be told apart."""
    paths = following.folder_paths(folders)
    return [(folder_id, " / ".join(path)) for folder_id, path in sorted(paths.items(), key=lambda item: item[1])]


class FolderChoice(forms.TypedMultipleChoiceField):
    """Any of the person's own folders."""

    def __init__(self, user: User) -> None:
        folders = {str(folder.pk): folder for folder in following.folders_of(user)}
        super().__init__(
            choices=_folder_choices(folders.values()),
            coerce=folders.__getitem__,
            required=False,
            label=_("Folders"),
            widget=forms.CheckboxSelectMultiple,
        )


class AddressForm(forms.Form):
    address = forms.CharField(
        max_length=2_100,
        label=_("Address"),
        help_text=_("A feed, or any page of a site: Wirebeat finds its feeds."),
        widget=forms.TextInput(
            attrs={"placeholder": "example.org", "inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        choice = FolderChoice(user)
        if choice.choices:
            self.fields["folders"] = choice

    def folder_ids(self) -> list[int]:
        return [folder.pk for folder in self.cleaned_data.get("folders", ())]


class FolderForm(forms.Form):
    name = forms.CharField(max_length=100, label=_("Name"))

    def __init__(self, *args: Any, user: User, folder: Folder | None = None, **options: Any) -> None:
        """The form of a folder, or of one that is still to be made."""
        super().__init__(*args, **options)
        folders = list(following.folders_of(user))
        inside = following.with_descendants(folders, folder.pk) if folder else set()
        places = {str(place.pk): place for place in folders if place.pk not in inside}
        named = [choice for choice in _folder_choices(folders) if choice[0] not in inside]
        self.fields["parent"] = forms.TypedChoiceField(
            choices=[("", _("no parent folder")), *named],
            coerce=places.__getitem__,
            empty_value=None,
            required=False,
            label=_("Parent folder"),
        )


class OpmlForm(forms.Form):
    file = forms.FileField(required=False, label=_("OPML file"), help_text=_("Most feed readers can export one."))
    address = forms.CharField(
        required=False,
        max_length=2_000,
        label=_("Or the address of a list"),
        help_text=_("It is fetched once. Later additions are not followed automatically."),
        widget=forms.TextInput(
            attrs={"placeholder": "https://", "inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )

    def clean_file(self) -> object:
        file = self.cleaned_data["file"]
        if file and file.size > LARGEST_DOCUMENT:
            size = LARGEST_DOCUMENT // 1_000_000
            raise forms.ValidationError(_("The file is larger than %(size)d MB.") % {"size": size})
        return file

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not self.errors and bool(values.get("file")) == bool(values.get("address")):
            raise forms.ValidationError(_("Give either a file or an address."))
        return values

    @property
    def given(self) -> str:
        """The field that says which list is meant."""
        return "address" if self.cleaned_data.get("address") else "file"


class PlanForm(forms.Form):
    policy = forms.ChoiceField(
        choices=Plan.Policy.choices,
        label=_("Scheduling policy"),
        help_text=_(
            "The first is Wirebeat's own and has the shortest delay; the others are published policies, for comparison."
        ),
    )
    pages_policy = forms.TypedChoiceField(
        choices=Plan.PagesPolicy.choices,
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


class SourceFilterForm(forms.Form):
    """The address of the list of sources; what makes no sense in it is left out."""

    words = forms.CharField(required=False, max_length=200)
    state = forms.ChoiceField(required=False, choices=Source.State.choices)
    category = forms.CharField(required=False, max_length=100)
    language = forms.CharField(required=False, max_length=20)
    shown = forms.ChoiceField(required=False, choices=[("listed", "listed"), ("unlisted", "unlisted")])
    failing = forms.BooleanField(required=False)
    sort = forms.ChoiceField(required=False, choices=[(name, name) for name in SORTS])

    def filter(self) -> SourceFilter:
        self.is_valid()
        return SourceFilter(**{name: value for name, value in self.cleaned_data.items() if value})
