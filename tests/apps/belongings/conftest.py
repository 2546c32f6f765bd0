from tests.apps.accounts.conftest import fresh_limits

__all__ = ["fresh_limits"]
