"""Forms of followed sources, their order, and interests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.following.algorithms.ordering import STEPS, Step
from apps.following.models import Follow
from apps.reading.forms.folders import FolderChoice
from apps.web.algorithms.numbers import whole_number


class FollowForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes none when it runs
    """A user's settings for a followed source."""

    class Meta:
        model = Follow
        fields = ["title", "view", "full_text", "images", "muted"]
        labels = {
            "title": _("Custom name"),
            "view": _("Layout"),
            "full_text": _("Article text"),
            "images": _("Images"),
            "muted": _("Mute"),
        }
        help_texts = {
            "title": _("Leave empty to use the feed's own name."),
            "full_text": _("From then on, the pages of new articles are fetched."),
            "muted": _(
                "You still follow it, but its articles appear only in its own list and are not counted elsewhere."
            ),
        }
        error_messages = {"title": {"max_length": _("A name can have at most 1,000 characters.")}}
        widgets = {"title": forms.TextInput}

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        folders = FolderChoice(user)
        self.fields = {"title": self.fields.pop("title"), "folders": folders, **self.fields}
        if self.instance.pk:
            self.initial["folders"] = list(self.instance.folders.values_list("pk", flat=True))


class InterestsForm(forms.Form):
    """Interests of a new user."""

    languages = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, label=_("Languages"))
    categories = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label=_("Interests"),
        error_messages={"required": _("Choose at least one interest, or skip this.")},
    )

    def __init__(self, *args: Any, languages: Sequence[str], categories: Sequence[str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["languages"].choices = [(code, code) for code in languages]  # type: ignore[attr-defined]
        self.fields["categories"].choices = [(name, name) for name in categories]  # type: ignore[attr-defined]


class NoMove(ValueError):
    """A request does not describe a move."""


@dataclass(frozen=True, slots=True)
class Move:
    """A folder or source that moves by a step, or to a place."""

    kind: str  # "folder" or "source"
    id: int
    within: int | None  # current folder
    step: Step | None  # None: it is placed
    into: int | None = None
    before: int | None = None  # id of the same kind; None: at the end


def read_move(text: str) -> Move:
    """Parse the form's field as set by a button or by dragging; raises NoMove.

    >>> read_move("source-7 folder-3 up")
    Move(kind='source', id=7, within=3, step='up', into=None, before=None)
    >>> read_move("folder-3 folder-0 into folder-9 folder-4")
    Move(kind='folder', id=3, within=None, step=None, into=9, before=4)
    """
    try:
        item, place, how, *rest = text.split(" ")
        kind, id = _named(item)
        if how in STEPS and not rest:
            return Move(kind, id, _folder(place), STEPS[STEPS.index(how)])
        [into, before] = rest
        if how != "into" or kind not in {"folder", "source"}:
            raise NoMove(text[:100])
        return Move(kind, id, _folder(place), None, _folder(into), _named(before)[1] or None)
    except ValueError as error:
        raise NoMove(f"{text[:100]!r} does not say what is to go where") from error


def _named(text: str) -> tuple[str, int]:
    kind, _separator, digits = text.partition("-")
    number = whole_number(digits)
    if kind not in {"folder", "source"} or number is None:
        raise NoMove(text[:100])
    return kind, number


def _folder(text: str) -> int | None:
    """A folder's id; None (0 in the form) outside of folders."""
    kind, id = _named(text)
    if kind != "folder":
        raise NoMove(text[:100])
    return id or None
