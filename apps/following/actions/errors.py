"""What a person may not do."""


class NotPossible(ValueError):
    """What a person asked for breaks a rule; the message tells them which."""
