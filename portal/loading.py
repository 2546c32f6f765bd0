"""Addresses whose modules are loaded by the first request that needs them."""

import gc
from typing import Any

from django.urls import URLResolver, clear_url_caches
from django.utils.datastructures import MultiValueDict
from django.utils.functional import cached_property
from django.utils.translation import get_language


class LoadedLater(URLResolver):
    """Addresses of programs, in a module that is loaded once no other address fits a request.

    With Pydantic, schemas take 22 MB of each process that has loaded them, and many portals have no app connected.
    Until then the addresses have no names, as looking up any name of the portal would load them.
    """

    @cached_property
    def urlconf_module(self) -> Any:
        module = super().urlconf_module
        clear_url_caches()  # now they have
        gc.freeze()  # see `wsgi`
        return module

    def _populate(self) -> None:
        if "urlconf_module" in vars(self):
            super()._populate()
            return
        for names in ("_reverse_dict", "_namespace_dict", "_app_dict"):
            vars(self)[names][get_language()] = MultiValueDict[str, object]()
