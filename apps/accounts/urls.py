from django.urls import path

from apps.accounts import views

urlpatterns = [
    path("", views.account, name="account"),
    path("tokens/", views.tokens, name="app_tokens"),
    path("tokens/<int:token_id>/revoke/", views.revoke_token, name="revoke_token"),
    path("sessions/<int:session_id>/end/", views.end_session, name="end_session"),
    path("invitations/", views.invitations, name="invitations"),
    path("invited/<str:invitation_secret>/", views.accept_invitation, name="accept_invitation"),
]
