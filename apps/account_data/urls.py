from django.urls import path

from apps.account_data import views

urlpatterns = [
    path("archive/", views.archive, name="archive"),
    path("archive/export/", views.export, name="export_archive"),
    path("archive/import/", views.import_archive, name="import_archive"),
    path("delete/", views.delete_account, name="delete_account"),
]
