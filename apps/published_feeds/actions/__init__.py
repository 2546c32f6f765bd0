"""The only writers of private addresses."""

from apps.published_feeds.actions.addresses import NoSuchList, end_address, make_address, renew_address
