"""Validation of parameters and bodies from programs."""

WITHOUT_NUL = r"^[^\x00]*$"  # which Postgres cannot store


class BadRequest(ValueError):
    """A request has an invalid value; the message names it."""
