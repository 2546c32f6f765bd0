"""The members of an archive, exported and imported in this order."""

from apps.account_data.members import account, following, marks, searches
from apps.account_data.members.base import AboutPostings, Import, Member

MEMBERS = (
    Member(account.ACCOUNT, "who you are here, and your preferences", account.write, account.take),
    Member(following.OPML, "what you follow, for any reader", following.write_opml, following.take_opml),
    Member(following.FOLDERS, "your folders, one a line", following.write_folders, following.take_folders),
    Member(
        following.FOLLOWS, "since when and how you follow, one a line", following.write_follows, following.take_follows
    ),
    Member(marks.MARKS, "what you read and starred, one a line", marks.write_marks, marks.take_marks),
    Member(marks.TAGS, "what you tagged, one a line", marks.write_tags, marks.take_tags),
    Member(marks.NOTES, "what you noted, one a line", marks.write_notes, marks.take_notes),
    Member(marks.HISTORY, "what you read lately, one a line", marks.write_history, marks.take_history),
    Member(marks.PLACES, "how far you came in recordings, one a line", marks.write_places, marks.take_places),
    Member(marks.REACTIONS, "what you opened and hid, one a line", marks.write_reactions, marks.take_reactions),
    Member(searches.SEARCHES, "your searches and their rules", searches.write_searches, searches.take_searches),
    Member(
        searches.NOTIFICATIONS,
        "when you want to be notified",
        searches.write_notification_settings,
        searches.take_notification_settings,
    ),
    Member("starred.atom", "what you starred, whole, as a feed for any reader", following.write_starred),
)
