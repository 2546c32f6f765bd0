"""What the portal's own interface answers: frozen, and described by its own OpenAPI document."""
