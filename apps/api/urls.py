from apps.api import dialects

urlpatterns = dialects.urlpatterns()
