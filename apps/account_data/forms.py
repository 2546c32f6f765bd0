from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User

MAX_ARCHIVE_BYTES = 200 * 10**6  # bytes


class ArchiveForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("ZIP, OPML, JSON or XML."),
        widget=forms.FileInput(attrs={"accept": ".zip,.opml,.json,.xml"}),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MAX_ARCHIVE_BYTES:
            text = _("The file is larger than %(size)d MB.")
            raise forms.ValidationError(text % {"size": MAX_ARCHIVE_BYTES // 1_000_000})
        return file


class DeletionForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        label=gettext_lazy("Type your username to confirm"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        self._user = user

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"]).strip()
        if name != self._user.username:
            raise forms.ValidationError(_("That is not your username."))
        return name
