"""Examples of the query language."""

from django.utils.translation import gettext_lazy as _

EXAMPLES = (
    ("climate summit", _("these words, in any order and form")),
    ('"climate summit"', _("exactly these words, next to each other")),
    ("climate -tax", _("climate without tax; -“two words” and -(one two) work too")),
    ("paris (summit OR talks)", _("paris, and one of the others")),
    ("intitle:election", _("in the title")),
    ('source:guardian,"le monde"', _("from either feed")),
    ("football -source:bbc", _("not from this feed")),
    ("category:science", _("in a category of the feed or the article")),
    ("lang:de,fr", _("in one of these languages")),
    ('author:"ada lovelace"', _("by this author")),
    ("after:2026-11 before:2026-12", _("published in November 2026; days and years work too")),
    ("election after:yesterday", _("since yesterday morning")),
    ("election after:12h", _("of the last 12 hours; d are days, w weeks")),
    ("is:unread is:followed", _("unread articles of the feeds that you follow")),
    ("is:starred solar", _("among your starred articles")),
)
