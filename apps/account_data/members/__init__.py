"""The members of an archive, exported and imported in this order."""

from django.utils.translation import gettext_lazy as _

from apps.account_data.members import following, marks, rules, settings
from apps.account_data.members.base import AboutPostings, Import, Member

MEMBERS = (
    Member(settings.ACCOUNT, _("Preferences"), settings.write_account, settings.take_account),
    Member(following.OPML, _("Feeds you follow"), following.write_opml, following.take_opml),
    Member(following.FOLDERS, _("Folders"), following.write_folders, following.take_folders),
    Member(following.FOLLOWS, _("Feed settings"), following.write_follows, following.take_follows),
    Member(marks.MARKS, _("Read and starred"), marks.write_marks, marks.take_marks),
    Member(marks.TAGS, _("Tagged"), marks.write_tags, marks.take_tags),
    Member(marks.NOTES, _("Notes"), marks.write_notes, marks.take_notes),
    Member(marks.HIGHLIGHTS, _("Highlights"), marks.write_highlights, marks.take_highlights),
    Member(marks.HISTORY, _("History"), marks.write_history, marks.take_history),
    Member(marks.PLACES, _("Playback positions"), marks.write_places, marks.take_places),
    Member(marks.REACTIONS, _("Opened and hidden"), marks.write_reactions, marks.take_reactions),
    Member(settings.SEARCHES, _("Saved searches"), settings.write_searches, settings.take_searches),
    Member(rules.RULES, _("Rules"), rules.write_rules, rules.take_rules),
    Member(
        settings.NOTIFICATIONS,
        _("Notification settings"),
        settings.write_notification_settings,
        settings.take_notification_settings,
    ),
    Member("starred.atom", _("Starred"), following.write_starred),
)
