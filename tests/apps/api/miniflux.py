"""A program that speaks Miniflux' API."""

import json

from django.test import Client

from apps.accounts.actions import make_token
from tests.builders import NOON


class Program:
    """A program that acts for a person."""

    def __init__(self, person, scopes=("read", "write")):
        self.person = person
        self.secret = make_token(person, "Phone", scopes, now=NOON)[1]
        self.client = Client()

    def request(self, method, path, data=None, **query):
        body = {"data": json.dumps(data), "content_type": "application/json"} if data is not None else {}
        address = f"/v1/{path}"
        if query:
            body["QUERY_STRING"] = "&".join(
                f"{name}={value}"
                for name, values in query.items()
                for value in (values if isinstance(values, list) else [values])
            )
        return getattr(self.client, method)(address, headers={"X-Auth-Token": self.secret}, **body)

    def entries(self, path="entries", **query):
        answer = self.request("get", path, **query)
        assert answer.status_code == 200, answer.content
        data = json.loads(answer.getvalue())
        return data["total"], [entry["id"] for entry in data["entries"]]
