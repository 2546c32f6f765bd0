"""Django's database sessions, read by a prepared statement, because every request reads one."""

from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.utils.timezone import now

from apps.database.sanitizing import sanitize
from apps.database.statements import fetch_as

_SESSION = """
SELECT session_key, session_data, expire_date FROM django_session WHERE session_key = %s AND expire_date > %s
"""


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> AbstractBaseSession | None:
        for session in fetch_as(self.model, _SESSION, [sanitize(self.session_key or ""), now()], generic=True):
            return session
        self._session_key = None
        return None
