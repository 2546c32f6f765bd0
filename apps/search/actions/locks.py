"""Who may do what at a time, by `take`.

Sealing and merging take their own lock first and that of the writers last, for the short while in which what they have
made takes the place of what was there; writers never wait for more than that.
"""

WRITING, MAINTAINING = 0x5345_4152, 0x5345_4153
