"""Advisory locks of this app."""

MATCHING = 0x414C_0001  # index terms and hits
WEIGHING = 0x414C_0002  # relevance and interest
DAILY_LIMIT = 0x414C_0000_0000  # plus a user's id: the messages of a day
