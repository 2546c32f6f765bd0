"""Extensions that come with the portal. Each folder here adds its modules to the registry of the same name.

They use the interfaces that extensions of others use, and nothing depends on them: a portal without this folder, or
without one of its modules, lacks what they add and nothing else.
"""
