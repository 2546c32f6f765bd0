"""The only writers of private addresses and of the state announced to hubs."""

from apps.published_feeds.actions.addresses import NoSuchList, end_address, make_address, renew_address
from apps.published_feeds.actions.announcing import announce_due, forget_unused, note_request
