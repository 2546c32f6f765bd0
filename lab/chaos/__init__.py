"""A portal of real processes that are killed, stopped and cut off while it works; what it stores must not show it."""
