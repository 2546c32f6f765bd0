"""The interfaces of other readers, for the apps that speak them; see `apps.api.dialects`."""
