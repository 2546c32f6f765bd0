from collections.abc import Collection
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Folder
from apps.sources.formats.opml import MAX_DOCUMENT_BYTES


def _folder_choices(folders: Collection[Folder]) -> list[tuple[int, str]]:
    """Folders with their full paths, since names are not unique."""
    paths = following.folder_paths(folders)
    return [(folder_id, " / ".join(path)) for folder_id, path in sorted(paths.items(), key=lambda item: item[1])]


class FolderChoice(forms.TypedMultipleChoiceField):
    """Any of the user's folders."""

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
        """The form of an existing or new folder."""
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
        if file and file.size > MAX_DOCUMENT_BYTES:
            size = MAX_DOCUMENT_BYTES // 1_000_000
            raise forms.ValidationError(_("The file is larger than %(size)d MB.") % {"size": size})
        return file

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not self.errors and bool(values.get("file")) == bool(values.get("address")):
            raise forms.ValidationError(_("Give either a file or an address."))
        return values

    @property
    def given(self) -> str:
        """The field that was filled in."""
        return "address" if self.cleaned_data.get("address") else "file"
