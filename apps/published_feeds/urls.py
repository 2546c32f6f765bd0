from django.urls import path

from apps.published_feeds.views import addresses, feeds

urlpatterns = [
    # for programs
    path("feeds/<str:feed_secret>/sources.opml", feeds.sources, name="private_sources"),
    path("feeds/<str:feed_secret>/<str:form>/", feeds.named, {"kind": "private"}, name="private_feed"),
    path("search/feed/<str:secret>/<str:form>/", feeds.named, {"kind": "search"}, name="search_feed"),
    path("section/<slug:slug>/feed/", feeds.named, {"kind": "section"}, name="section_feed"),
    path("section/<slug:slug>/feed/<str:form>/", feeds.named, {"kind": "section"}, name="section_feed"),
    path("stories/<int:story_id>/feed/", feeds.named, {"kind": "story"}, name="story_feed"),
    path("stories/<int:story_id>/feed/<str:form>/", feeds.named, {"kind": "story"}, name="story_feed"),
    path("trends/feed/", feeds.trends, name="trends_feed"),
    path("trends/feed/<str:form>/", feeds.trends, name="trends_feed"),
    # for people
    path("account/feeds/", addresses.index, name="private_addresses"),
    path("account/feeds/make/", addresses.make, name="make_private_address"),
    path("account/feeds/<int:address_id>/", addresses.change, name="change_private_address"),
    path("save/", addresses.save, name="save_page"),
    path("save/buttons/", addresses.buttons, name="buttons"),
]
