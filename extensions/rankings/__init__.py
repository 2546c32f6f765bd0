"""The models of the thesis "Ai-Times", and RM3."""
