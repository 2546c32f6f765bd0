"""Advisory locks of this app.

Segment building takes the maintenance lock first and the writers' lock last, only while the new segment replaces
documents or segments; writers never wait for more than that.
"""

WRITING, MAINTAINING = 0x5345_4152, 0x5345_4153
