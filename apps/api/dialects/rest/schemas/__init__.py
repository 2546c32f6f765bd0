"""Response models of the portal's own API, described by its OpenAPI document."""
