"""Mails as articles, above all hostile ones: none raises another error, and none becomes unsafe HTML."""

import random
import re
from datetime import UTC, datetime
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.newsletters.formats.letters import MAX_HEADER_BYTES, MAX_LETTER_BYTES, Letter, NotALetter, read
from apps.postings.algorithms.markup import clean

MAILS = 1_000
_UNSAFE = re.compile(r"<\s*(script|iframe|object|embed|form|style|link|meta|base|svg)\b|\son\w+\s*=|javascript:", re.I)
_TAG = re.compile(r"<[^<>]*>")


def a_mail(html: str = "", text: str = "Hello.", **headers: str) -> bytes:
    mail = EmailMessage()
    given = {"From": "Ada <ada@news.example>", "Subject": "News", "Message-ID": "<1@news.example>"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    for name, value in given.items():
        mail[name] = value
    mail.set_content(text)
    if html:
        mail.add_alternative(html, subtype="html")
    return mail.as_bytes()


def test_the_html_is_preferred_and_what_it_names_is_read():
    mail = a_mail(
        "<h1>Tea</h1>", Date="Fri, 1 Mar 2024 10:00:00 +0200", Archived_At="<https://news.example/1>", Subject="Grüße"
    )
    letter = read(mail)
    assert (letter.sender, letter.host, letter.entry.authors) == ("ada@news.example", "news.example", ("Ada",))
    assert (letter.entry.title, letter.entry.content.strip()) == ("Grüße", "<h1>Tea</h1>")
    assert letter.entry.link == "https://news.example/1"
    assert letter.entry.published == datetime(2024, 3, 1, 8, tzinfo=UTC)


def test_the_address_to_unsubscribe_is_shown_that_of_the_web_first():
    letter = read(a_mail(List_Unsubscribe="<mailto:leave@news.example>, <https://news.example/leave?a=1&b=2>"))
    assert letter.unsubscribe == "https://news.example/leave?a=1&b=2"
    assert '<a href="https://news.example/leave?a=1&amp;b=2">Unsubscribe</a>' in letter.entry.content
    assert read(a_mail(List_Unsubscribe="<javascript:alert(1)>")).unsubscribe == ""


def test_a_mail_has_the_same_identity_at_each_delivery_and_another_one_with_other_content():
    mail = a_mail()
    again = b"Received: from elsewhere; Fri, 1 Mar 2024 10:00:00 +0000\n" + mail
    assert read(mail).entry.guid == read(again).entry.guid
    assert read(mail).entry.guid != read(a_mail(text="Other words.")).entry.guid


def test_pixels_that_count_readers_are_removed():
    html = read(a_mail('<p>Tea</p><img src="https://t.example/o.gif" width="1" height="1">')).entry.content
    assert "t.example" not in clean(html).html


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty"),
        (b"X" * (MAX_LETTER_BYTES + 1), "larger than 5 MB"),
        (b"Subject: " + b"a" * MAX_HEADER_BYTES, "headers of the mail are too long"),
    ],
)
def test_mails_that_cannot_become_articles_are_refused_with_the_reason(content, problem):
    with pytest.raises(NotALetter, match=problem):
        read(content)


# --- hostile mails ----------------------------------------------------------------------------------------------------
HEADERS = (
    b"From: =?utf-8?b?////?= <a@b", b"From: \"a\" <a@[::1>", b"From: @@@,,,;;;", b"From: a@b\nFrom: c@d",
    b"Subject: =?unknown-8bit?q?=ff=fe?=", b"Subject: =?utf-7?q?+ADw-script+AD4-?=", b"Subject: \x00\xff\x80",
    b"Date: Thu, 99 Foo 99999 99:99:99 +9999", b"Date: \xff", b"Message-ID: <<<>>>", b"Message-ID: [x]@[",
    b"Content-Type: text/html; charset=\"nothing\"", b"Content-Type: text/html; charset*0=utf-8'; charset*1='",
    b"Content-Type: multipart/mixed", b"Content-Type: multipart/alternative; boundary=\"\"",
    b"Content-Type: multipart/mixed; boundary=x", b"Content-Type: message/rfc822", b"Content-Type: ;;;===",
    b"Content-Type: text/plain; charset=idna", b"Content-Type: text/html; charset=utf-16",
    b"Content-Transfer-Encoding: base64", b"Content-Transfer-Encoding: quoted-printable",
    b"Content-Transfer-Encoding: x-uuencode", b"Content-Disposition: attachment; filename*=x''%",
    b"List-Unsubscribe: <javascript:alert(1)>", b"List-Unsubscribe: <https://a\"onload=x.example>", b"Archived-At: <x>",
    b"Bcc: :", b"To: undisclosed-recipients:;", b" : x", b"MIME-Version: \xe2\x80\xae",
)  # fmt: skip
BODIES = (
    b"<script>alert(1)</script>", b"<img src=x onerror=alert(1)>", b"--x\n\n<b>a</b>\n--x--", b"--x\n" * 50,
    b"=3Cscript=3E=\n", b"PHNjcmlwdD4=", b"\xff\xfe<\x00s\x00c\x00", b"<svg/onload=alert(1)>",
    b"<a href='java\tscript:1'>a",
    b"From: a@b\n\nSubject: c", b"<style>@import 'x'</style>", b"<p>" * 300, b"&#x0;&#xd800;",
    b"begin 644 a\n#86)C\nend",
    b"<iframe srcdoc='<script>1</script>'></iframe>", b"<math><mtext><style><img src=x onerror=1></style></math>",
)  # fmt: skip
NESTED = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(400))


def hostile(seed: int) -> bytes:
    """A mail of hostile pieces, mutated."""
    dice = random.Random(seed)
    headers = dice.sample(HEADERS, dice.randint(0, 6))
    body = b"\n".join(dice.choices(BODIES, k=dice.randint(1, 4)))
    mail = bytearray(b"\r\n".join(headers) + b"\r\n\r\n" + (NESTED if seed % 97 == 0 else b"") + body)
    for _ in range(dice.choice((0, 0, 3, 30))):
        mail[dice.randrange(len(mail))] = dice.randrange(256)
    return bytes(mail)


def safe_or_refused(mail: bytes) -> Letter | None:
    try:
        letter = read(mail)
    except NotALetter:
        return None
    html = clean(letter.entry.content).html
    assert not any(_UNSAFE.search(tag) for tag in _TAG.findall(html)), mail
    assert "\x00" not in letter.entry.title + letter.entry.guid + html
    (letter.entry.title + letter.entry.guid + letter.sender + html).encode()  # no lone surrogates
    return letter


def test_of_a_thousand_hostile_mails_none_raises_an_error_and_none_is_unsafe(capsys):
    letters = [safe_or_refused(hostile(seed)) for seed in range(MAILS)]
    read_ones = sum(letter is not None for letter in letters)
    with capsys.disabled():
        print(f"\n{MAILS:,} hostile mails: {read_ones:,} read, {MAILS - read_ones:,} refused, 0 exceptions, 0 unsafe")
    assert read_ones > MAILS / 2


@given(st.lists(st.sampled_from(HEADERS), max_size=5), st.binary(max_size=300), st.sampled_from(BODIES))
def test_no_bytes_raise_an_error_or_become_unsafe(headers, noise, body):
    safe_or_refused(b"\n".join(headers) + b"\n\n" + body + noise)
    safe_or_refused(noise)
