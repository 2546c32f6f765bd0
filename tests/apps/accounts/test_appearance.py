"""The language and the colours that people, and visitors, choose."""

from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from apps.accounts.models import User
from apps.alerts.channels import Delivery
from apps.alerts.channels.mail import send
from apps.alerts.models import Message
from apps.alerts.queries.messages import Finding, Group
from apps.web.pages.durations import span
from tests.browser import everything
from tests.builders import a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN,zh;q=0.9,en;q=0.5"}


@pytest.fixture(autouse=True)
def english_again():
    yield
    translation.activate("en")


def choose(client, **values):
    return client.post(reverse("appearance"), {"theme": "auto", "language": "", "next": "/help/keys/"} | values)


def test_pages_are_in_the_language_of_the_browser(client):
    page = client.get("/help/keys/", **CHINESE)
    assert page["Content-Language"] == "zh-hans"
    assert '<html lang="zh-hans"' in page.text
    assert "快捷键" in page.text
    assert '<html lang="en"' in client.get("/help/keys/", HTTP_ACCEPT_LANGUAGE="fr").text


def test_the_choice_of_a_visitor_precedes_the_language_of_the_browser(client):
    answer = choose(client, language="zh-hans", theme="dark")
    assert answer.url == "/help/keys/"
    page = client.get("/help/keys/", HTTP_ACCEPT_LANGUAGE="en").text
    assert '<html lang="zh-hans" data-theme="dark"' in page
    assert all(answer.cookies[name]["samesite"] == "Lax" for name in ("theme", "django_language"))
    choose(client)
    assert '<html lang="en" data-theme="auto"' in client.get("/help/keys/", HTTP_ACCEPT_LANGUAGE="en").text


def test_preferences_are_stored_with_the_account(client):
    user, other_browser = a_user(), Client()
    client.force_login(user)
    answer = choose(client, language="zh-hans", theme="contrast")
    assert not answer.cookies
    other_browser.force_login(user)
    page = other_browser.get("/help/keys/").text
    assert '<html lang="zh-hans" data-theme="contrast"' in page
    assert 'contrast.css" media="all"' in page
    assert User.objects.get(pk=user.pk).language == "zh-hans"


def test_preferences_hold_both_too(client):
    user = a_user()
    client.force_login(user)
    given = {"order": "newest", "images": "proxied", "time_zone": "", "theme": "dark", "language": "zh-hans"}
    client.post(reverse("preferences"), given)
    user.refresh_from_db()
    assert (user.theme, user.language) == ("dark", "zh-hans")


@pytest.mark.parametrize("wrong", [{"theme": "pink"}, {"language": "xx"}, {"theme": ""}])
def test_invalid_preferences_change_nothing(client, wrong):
    answer = choose(client, **wrong)
    assert answer.status_code == 200
    assert not answer.cookies.get("theme")


def test_an_invalid_cookie_is_no_theme(client):
    client.cookies["theme"] = '"><script>'
    assert 'data-theme="auto"' in client.get("/help/keys/").text


def test_choosing_leads_to_no_other_site(client):
    assert choose(client, next="https://evil.example/").url == "/"


def test_no_other_site_can_choose():
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse("appearance"), {"theme": "dark", "language": ""}).status_code == 403


def test_404_pages_are_in_the_language_too(client):
    answer = client.get("/nowhere/", **CHINESE)
    assert answer.status_code == 404
    assert "页面不存在" in answer.text
    client.force_login(a_user(language="zh-hans"))
    assert "页面不存在" in client.get("/nowhere/").text


def test_a_language_chosen_for_one_request_is_not_that_of_the_next(client):
    user = a_user(language="zh-hans")
    client.force_login(user)
    assert 'lang="zh-hans"' in client.get("/help/keys/").text
    assert 'lang="en"' in Client().get("/help/keys/").text


def test_times_and_amounts_are_written_as_in_the_language(client):
    source = a_source(listed=True)
    a_posting(source, published_at=timezone.now() - timedelta(minutes=5, seconds=1))
    assert "5 分钟前" in client.get("/", **CHINESE).text
    assert "5 min ago" in client.get("/").text
    with translation.override("zh-hans"):
        assert span(95 * 60) == "1 小时 35 分钟"


def test_errors_of_a_query_are_in_the_language(client):
    assert "第 1 个字符处的括号没有闭合" in client.get("/search/?q=%28paris", **CHINESE).text


def test_mails_are_in_the_language_of_the_recipient():
    finding = Finding("A storm", "", "http://portal.example/posting/1/", "The Wire", timezone.now())
    group = Group(1, "Storms", "storm", (finding, finding))
    for language in ("zh-hans", ""):
        user = a_user(email="reader@example.org", language=language)
        send(Delivery(Message(key=f"key-{language}", user=user), [group], [], "stop"), timezone.now())
    chinese, english = mail.outbox
    assert chinese.subject == "Storms：2 篇新文章"
    assert "你收到此邮件" in chinese.body
    assert english.subject == "Storms: 2 new"
    assert "you receive this from" in english.body


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.trial)], ids=["a quarter", "all"])
def test_every_page_can_be_read_in_chinese(client, share):
    user = everything.an_admin()
    values = everything.some_of_everything(user)
    User.objects.filter(pk=user.pk).update(language="zh-hans")
    client.force_login(user)
    pages = everything.pages(client, values, share=share)
    assert len(pages) >= 50 / share
    for address, page in pages.items():
        assert '<html lang="zh-hans"' in page, address
        assert "跳到正文" in page, address
