"""The only writers of stories, sections, authorities, and users' tastes."""

from apps.stories.actions import consuming, learning, maintaining, sections
