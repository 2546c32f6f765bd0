from django.urls import path

from apps.published_feeds.views import feeds

urlpatterns = [
    # for programs
    path("feeds/<str:feed_secret>/sources.opml", feeds.sources, name="private_sources"),
    path("feeds/<str:feed_secret>/<str:form>/", feeds.named, {"kind": "private"}, name="private_feed"),
    path("search/feed/<str:secret>/<str:form>/", feeds.named, {"kind": "search"}, name="search_feed"),
    path("section/<slug:slug>/feed/", feeds.named, {"kind": "section"}, name="section_feed"),
    path("section/<slug:slug>/feed/<str:form>/", feeds.named, {"kind": "section"}, name="section_feed"),
    # for people
    path("account/feeds/", feeds.index, name="private_addresses"),
    path("account/feeds/make/", feeds.make, name="make_private_address"),
    path("account/feeds/<int:address_id>/", feeds.change, name="change_private_address"),
    path("save/", feeds.save, name="save_page"),
    path("save/buttons/", feeds.buttons, name="buttons"),
]
