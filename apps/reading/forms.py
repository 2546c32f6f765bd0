"""Forms of followed sources, folders and imports, and of saved searches and notifications."""

import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.queries.site import sends_mail
from apps.alerts.algorithms.plain_rules import PlainRule, tidied
from apps.alerts.channels import with_settings
from apps.alerts.models import NotificationSettings, PercolatorQuery, Rule
from apps.alerts.send_to import SECRETS, Service
from apps.following import queries as following
from apps.following.algorithms.ordering import STEPS, Step, natural_key
from apps.following.models import Folder, Follow
from apps.search.models import SavedSearch
from apps.sources.formats.opml import MAX_DOCUMENT_BYTES


def _folder_choices(folders: Collection[Folder]) -> list[tuple[int, str]]:
    """Folders with their full paths, since names are not unique."""
    paths = following.folder_paths(folders)
    return [(folder_id, " / ".join(path)) for folder_id, path in sorted(paths.items(), key=lambda item: item[1])]


def _address_input(placeholder: str = "") -> forms.TextInput:
    plain = {"inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}
    return forms.TextInput(plain | ({"placeholder": placeholder} if placeholder else {}))


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
        help_text=_("A feed, or any page of a site: Wirebeat finds its feeds, or reads the page itself."),
        widget=_address_input("example.org"),
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
        widget=_address_input("https://"),
    )
    follow = forms.BooleanField(
        required=False,
        label=_("Stay in sync with the list at this address"),
        help_text=_("It is checked once a day: what is added is followed, and what is removed is unfollowed again."),
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
        if values.get("follow") and not values.get("address"):
            raise forms.ValidationError(_("Only a list at an address can be kept in sync."))
        return values

    @property
    def given(self) -> str:
        """The field that was filled in."""
        return "address" if self.cleaned_data.get("address") else "file"


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
            "full_text": _("Full text is fetched for new articles."),
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


class Move(NamedTuple):
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
    found = _MOVE.fullmatch(text)
    if found is None:
        raise NoMove(f"{text[:100]!r} does not say what is to go where")
    kind, id, within, step, into, before = found.groups()
    if step is not None:
        return Move(kind, int(id), int(within) or None, STEPS[STEPS.index(step)])
    return Move(kind, int(id), int(within) or None, None, int(into) or None, int(before) or None)


_MOVE = re.compile(
    r"(folder|source)-([0-9]{1,18}) folder-([0-9]{1,18})"
    rf" (?:({'|'.join(STEPS)})|into folder-([0-9]{{1,18}}) (?:folder|source)-([0-9]{{1,18}}))"
)


class RuleForm(forms.Form):
    mark_read = forms.BooleanField(required=False, label=_("Mark as read"))
    star = forms.BooleanField(required=False, label=_("Star"))
    hide = forms.BooleanField(required=False, label=_("Hide, and show fewer like it under “For you”"))
    highlight = forms.BooleanField(required=False, label=_("Highlight the words in lists"))
    tag = forms.CharField(required=False, max_length=50, label=_("Add tag"))
    mail = forms.ChoiceField(required=False, choices=Rule.Mail.choices, label=_("Mail"), widget=forms.RadioSelect)
    push = forms.BooleanField(required=False, label=_("Browser notifications"))
    webhook_url = forms.CharField(
        required=False,
        max_length=2_000,
        label=_("Webhook"),
        help_text=_("An address that receives a signed JSON POST for new articles."),
        widget=_address_input(),
    )
    importance = forms.FloatField(
        min_value=0,
        max_value=10,
        label=_("Priority"),
        help_text=_(
            "Feeds that match this search are checked more often. 1 is normal, 0 has no effect. "
            "All your searches together count at most as much as ten normal ones."
        ),
        widget=forms.NumberInput(attrs={"step": "0.5"}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields |= {channel.name: channel.field() for channel in with_settings() if channel.field}
        if not sends_mail():
            self.fields["mail"].help_text = _(
                "This portal cannot send mail: its administrator has to set up a mail server first."
            )

    @staticmethod
    def values_of(rule: Rule | None, query: PercolatorQuery | None) -> dict[str, Any]:
        """Initial values of a search's form."""
        given = ("mark_read", "star", "hide", "highlight", "tag", "mail", "push", "webhook_url")
        values = {name: getattr(rule, name) for name in given} | rule.settings if rule else {}
        return values | {"importance": f"{query.importance:g}" if query else "1"}


class DestinationForm(forms.Form):
    name = forms.CharField(required=False, max_length=100, label=_("Name"), help_text=_("As you call it here."))

    def __init__(self, *args: Any, service: Service, **options: Any) -> None:
        super().__init__(*args, **options)
        name, plain = self.fields.pop("name"), {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}
        for key, label in service.fields.items():
            widget = (forms.PasswordInput if key in SECRETS else forms.TextInput)(plain)
            self.fields[key] = (
                label() if callable(label) else forms.CharField(max_length=1_000, label=label, widget=widget)
            )
        self.fields["name"] = name


PLAIN_EFFECTS = ("hide", "mark_read", "star", "highlight")


class PlainRuleForm(forms.Form):
    """A rule without the query language."""

    place = forms.ChoiceField(required=False)
    part = forms.ChoiceField(
        choices=[("text", _("Title or text")), ("title", _("Title")), ("author", _("Author"))],
        initial="text",
        label=_("that contain in"),
        widget=forms.RadioSelect,
    )
    words = forms.CharField(
        max_length=2_000,
        label=_("any of these words or phrases"),
        help_text=_("One on each line. Case, accents and endings do not matter."),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )
    effects = forms.MultipleChoiceField(
        required=False,
        choices=[
            ("keep", _("Keep only these: hide the others")),
            *((name, RuleForm.base_fields[name].label) for name in PLAIN_EFFECTS),
        ],
        label=_("What to do"),
        widget=forms.CheckboxSelectMultiple,
    )
    tag = forms.CharField(required=False, max_length=50, label=_("Add tag"))
    past = forms.BooleanField(required=False, initial=True, label=_("Also apply it to the articles of the last week"))

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        folders = [(f"folder:{number}", path) for number, path in _folder_choices(following.folders_of(user))]
        followed = sorted(following.followed_sources(user), key=lambda each: natural_key(each.title))
        feeds = [(f"source:{each.source_id}", each.title) for each in followed]
        groups = [(_("Folders"), folders), (_("Feeds"), feeds)]
        choices = [("", _("All feeds that you follow")), *(group for group in groups if group[1])]
        self.fields["place"] = forms.ChoiceField(choices=choices, required=False, label=_("Articles of"))

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        chosen = set(values.get("effects", ()))
        if "keep" in chosen and (len(chosen) > 1 or values.get("tag")):
            raise forms.ValidationError(_("“Keep only these” cannot be combined with others: make a second rule."))
        return values

    def rule(self) -> PlainRule:
        place, part, words, effects = (self.cleaned_data[name] for name in ("place", "part", "words", "effects"))
        return PlainRule(place, part, tidied(words.splitlines()), keep="keep" in effects)

    def actions(self) -> dict[str, Any]:
        """Effects of `save_plain_rule`."""
        return dict.fromkeys(set(self.cleaned_data["effects"]) - {"keep"}, True) | {"tag": self.cleaned_data["tag"]}

    @staticmethod
    def values_of(saved: SavedSearch) -> dict[str, Any]:
        rule, done = PlainRule.read(saved.plain), saved.rule
        effects = ["keep"] if rule.keep else [name for name in PLAIN_EFFECTS if getattr(done, name)]
        words = "\n".join(rule.words)
        return {"place": rule.place, "part": rule.part, "words": words, "effects": effects, "tag": done.tag}


_clock = partial(forms.TimeField, required=False, widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"))


class NotificationSettingsForm(forms.Form):
    quiet_from = _clock(
        label=_("Quiet from"),
        help_text=_("Messages during quiet hours are sent when these end. Webhooks are always called immediately."),
    )
    quiet_until = _clock(label=_("Quiet until"))
    digest_hour = forms.TypedChoiceField(
        choices=[(hour, f"{hour}:00") for hour in range(24)], coerce=int, label=_("Daily digest at")
    )
    most_a_day = forms.IntegerField(
        min_value=0,
        max_value=1_000,
        label=_("Mails and browser notifications per day, at most"),
        help_text=_("The rest comes with the next daily digest."),
    )

    @staticmethod
    def values_of(settings: NotificationSettings | None) -> dict[str, Any]:
        settings = settings or NotificationSettings()
        return {name: getattr(settings, name) for name in NotificationSettingsForm.base_fields}
