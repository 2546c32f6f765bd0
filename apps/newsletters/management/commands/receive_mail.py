"""Receive a newsletter from a mail server's pipe. Exit codes are those of sysexits.h, as mail servers expect."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.timezone import now

from apps.newsletters.actions import TooMany, UnknownAddress, receive
from apps.newsletters.formats.letters import MAX_LETTER_BYTES, NotALetter


class Command(BaseCommand):
    help = "Receive a newsletter: the mail on standard input, for an address of a person. For mail servers."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("recipient", help="the address of the envelope, which a person got from the portal")

    def handle(self, *args: Any, recipient: str, **options: Any) -> None:
        try:
            receive(recipient, sys.stdin.buffer.read(MAX_LETTER_BYTES + 1), now=now())
        except UnknownAddress as problem:
            self._exit(os.EX_NOUSER, problem)  # bounced
        except NotALetter as problem:
            self._exit(os.EX_DATAERR, problem)  # bounced
        except TooMany as problem:
            self._exit(os.EX_TEMPFAIL, problem)  # sent again later
        except Exception as problem:  # such as an unavailable database: no mail may be lost
            self._exit(os.EX_TEMPFAIL, f"{type(problem).__name__}: {problem}")

    def _exit(self, code: int, problem: object) -> None:
        self.stderr.write(str(problem))
        sys.exit(code)
