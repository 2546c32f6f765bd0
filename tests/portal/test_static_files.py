"""Styles and scripts, as they leave the portal where no proxy compresses them."""

import gzip

import pytest


@pytest.mark.parametrize("path", ["css/base.css", "js/main.js", "vendor/htmx@2.0.11/htmx.min.js"])
def test_styles_and_scripts_travel_compressed(client, path):
    plain = b"".join(client.get(f"/static/{path}"))
    answer = client.get(f"/static/{path}", headers={"Accept-Encoding": "gzip, br"})
    assert answer["Content-Encoding"] == "gzip"
    travelled = b"".join(answer)
    assert gzip.decompress(travelled) == plain
    assert len(travelled) < len(plain)


def test_cached_files_are_not_sent_again(client):
    first = client.get("/static/css/base.css", headers={"Accept-Encoding": "gzip"})
    again = client.get(
        "/static/css/base.css",
        headers={"Accept-Encoding": "gzip", "If-Modified-Since": first["Last-Modified"]},
    )
    assert again.status_code == 304
