"""The portal's own interface for programs: one module for each kind of thing, and those that all of them share."""
