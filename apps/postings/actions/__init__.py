"""The only writers of postings."""

from apps.postings.actions.articles import PageOfPosting, fill, store_articles
from apps.postings.actions.duplicates import forget_old_fingerprints, note_recent_copies
from apps.postings.actions.merging import move_postings
from apps.postings.actions.storing import EDITIONS_KEPT, Document, Stored, store
