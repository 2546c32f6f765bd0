"""Errors of all actions on follows and marks."""


class NotPossible(ValueError):
    """A request breaks a rule; the message names it to the user."""
