from django.urls import path

from apps.reading.views import following, images, marks, opml, plain, plan, preferences, river, source_pages, sources

urlpatterns = [
    path("", plain.home, name="home"),
    path("health/live", plain.live, name="live"),
    path("help/keys/", plain.keys, name="keys"),
    # reading
    path("river/", river.river, name="river"),
    path("river/starred/", river.starred, name="river_starred"),
    path("river/folder/<int:folder_id>/", river.folder, name="river_folder"),
    path("river/source/<int:source_id>/", river.source, name="river_source"),
    path("river/read/", marks.mark_all, name="mark_all"),
    path("posting/<int:posting_id>/", river.posting, name="posting"),
    path("posting/<int:posting_id>/mark/", marks.mark, name="mark"),
    path("image/<str:signature>/<str:encoded>", images.image, name="image"),
    # following
    path("catalogue/", following.catalogue, name="catalogue"),
    path("add/", following.add, name="add"),
    path("follow/<int:source_id>/", following.follow, name="follow"),
    path("follow/<int:source_id>/edit/", following.edit_follow, name="edit_follow"),
    path("follow/<int:source_id>/end/", following.unfollow, name="unfollow"),
    path("folders/", following.folders, name="folders"),
    path("folders/<int:folder_id>/", following.edit_folder, name="edit_folder"),
    path("folders/<int:folder_id>/delete/", following.delete_folder, name="delete_folder"),
    path("opml/", opml.import_list, name="opml"),
    path("opml/export/", opml.export_list, name="opml_export"),
    path("preferences/", preferences.preferences, name="preferences"),
    # sources
    path("sources/", sources.index, name="sources"),
    path("sources/add/", sources.add, name="add_source"),
    path("sources/test/", sources.test, name="test_source"),
    path("sources/<int:source_id>/", sources.detail, name="source"),
    path("sources/<int:source_id>/plan/", plan.of_source, name="source_plan"),
    path("sources/<int:source_id>/edit/", sources.edit, name="edit_source"),
    path("sources/<int:source_id>/merge/", sources.merge, name="merge_source"),
    path("sources/<int:source_id>/delete/", sources.delete, name="delete_source"),
    path("sources/<int:source_id>/state/", sources.set_state, name="set_source_state"),
    path("sources/<int:source_id>/ask/", sources.ask, name="ask_source"),
    path("sources/<int:source_id>/pages/", source_pages.index, name="source_pages"),
    path("sources/<int:source_id>/pages/<int:page_id>/", source_pages.decide, name="decide_page"),
    path("sources/<int:source_id>/keen-tags/", source_pages.keen_tags, name="keen_tags"),
    path("plan/", plan.plan, name="plan"),
]
