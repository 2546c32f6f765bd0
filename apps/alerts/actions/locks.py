"""Advisory locks of this app: one holder at a time, until the end of a transaction."""

MATCHING = 0x414C_0001  # anchors and what they find
WEIGHING = 0x414C_0002  # what searches make of the worth of sources
TOLD = 0x414C_0000_0000  # and a person's number: what they were told today
