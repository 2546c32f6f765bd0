"""A portal of real processes that are killed, frozen and cut off; its stored data must not be affected."""
