"""How the apps talk to Postgres where Django's own way is not enough."""
