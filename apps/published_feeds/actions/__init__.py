"""All that changes secret addresses, and what hubs are told."""

from apps.published_feeds.actions.addresses import NoSuchList, end_address, make_address, renew_address
from apps.published_feeds.actions.announcing import announce, announce_due, forget_unasked, note_request
