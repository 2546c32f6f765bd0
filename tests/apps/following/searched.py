"""What a search takes for unread."""

from collections.abc import Collection
from types import SimpleNamespace

import numpy as np

from apps.accounts.models import User
from apps.postings.models import Posting
from apps.search.algorithms.index.conditions import Attributes
from apps.search.queries.resolving import _unread


def surely_unread(user: User, postings: Collection[Posting]) -> set[int]:
    """Those of which the search is sure before it reads them."""
    known = Attributes(
        np.array([posting.pk for posting in postings], np.int64),
        np.array([posting.source_id for posting in postings], np.int64),
        np.array([posting.published_at.timestamp() * 1e6 for posting in postings]).astype(np.int64),
        np.array([b"" for _ in postings], np.bytes_),
    )
    surely, _ = _unread(user).bounds(SimpleNamespace(size=len(postings), attributes=known))
    return {posting.pk for posting, flag in zip(postings, surely, strict=True) if flag}
