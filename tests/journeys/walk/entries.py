"""What each URL pattern takes: a line per pattern, by its name, or by its route where it has no name.

After the name stand forms, each after a bar. A form is posted, and also sent as the query of a GET request.
`$posting_id` and the like are replaced by the owner's. A pattern without a line fails the test.
"""

from collections.abc import Mapping

PAGES = """
home
live
ready
metrics
keys
appearance | theme=dark&language=en
manifest
service_worker
offline_shell
image
recording
feed_icon
player

river | q=alone&order=oldest | start=$posting_id
river_starred
river_tag
river_folder
river_source
mark_all
  | scope=folder-$folder_id&shown_at=$now
  | scope=tag-$tag_id&shown_at=$now
  | scope=source-$source_id&shown_at=$now
seen | posting=$posting_id
counts
undo | undo=$undo_id | undo=up-to
refresh | scope=source-$source_id&shown_at=$now
refreshed | scope=source-$source_id&shown_at=$now&feeds=$source_id
posting
mark | read=yes | read=no | starred=yes | starred=no
tag | tag=mine | tag=mine&do=remove
menu
mark_up_to | scope=all-0&shown_at=$now&order=newest | scope=source-$source_id&shown_at=$now
note | text=mine | do=delete
place | number=0&seconds=9
share | do=share | do=end
summary | percent=10
full_text
history | start=$posting_id
clear_history
notes | q=wrote
highlights | q=wrote
export_markdown
export_json
highlight | quote=alone&note=mine
change_highlight | note=mine | do=delete
newsletters | site=a.example
change_newsletter
  | do=remove&number=$newsletter_id
  | do=confirm&number=$held_id
  | do=refuse&number=$held_id
plain_rules
new_rule | words=alone&part=text&effects=star&save=1 | words=alone&part=text&place=folder:$folder_id&effects=star&save=1
plain_rule | words=alone&part=text&effects=star&save=1
forget_rule | do=delete
tags
change_tag | do=rename&name=mine | do=delete | do=merge&into=mine
shares
shared
offline
offline_list | n=100
offline_articles | ids=$posting_id,$entry_id
offline_changes

search | q=alone | q=alone&like=$posting_id | q=folder:$folder_id | q=in:$source_id
search_help
compare_models
saved_searches
save_search | q=alone&name=mine
change_search | name=mine | do=move | do=forget
alert_found
alert_rule | mark_read=on&importance=2&tag=mine
alert_service
alert_test_webhook
alert_resume
alert_messages | before=999999
alert_retry
alert_settings | most_a_day=5&digest_hour=7
alert_add_browser
alert_remove_browser
alert_stop
stories
story
for_you
learning | learning=off
hide | hidden=yes | hidden=no
section
trends | language=en&term=paris+1&period=day

destinations | token=mine&name=mine
remove_destination
send | to=$destination_id

catalogue | words=source
add | address=http://127.0.0.1:1/
follow
edit_follow | title=mine&view=&images=&folders=$folder_id
unfollow
folders | name=mine&parent=$folder_id
new_folder | name=mine
show_feeds | show=unread
arrange | move=source-$source_id+folder-$folder_id+into+folder-0+source-0 | move=folder-$folder_id+up
edit_folder | name=mine&parent= | name=mine&parent=$other_folder_id
delete_folder
feed_health
dismiss_notice
mail_notices | by_mail=yes
dismiss_notices | up_to=$notice_id
dismiss_recommendation
welcome | languages=en&categories=local
first_articles
opml | address=http://127.0.0.1:1/
leave_list
opml_export
preferences | order=newest&view=list&images=proxied&time_zone=

private_sources
private_feed
search_feed
section_feed
private_addresses
make_private_address | list=folder-$folder_id | list=tag-$tag_id
change_private_address | do=end | do=renew
save_page | url=https://a.example/&title=mine
buttons
push | hub.mode=subscribe&hub.topic=https://a.example/&hub.challenge=1

account
app_tokens | name=mine&scopes=read
revoke_token
end_session
accept_invitation
archive
export_archive
import_archive
delete_account

accounts/oidc/<str:provider_id>/login/
account_login | login=stranger&password=wrong
account_logout
account_inactive
account_signup | username=x
account_reauthenticate | password=wrong
account_email | action_add=&email=stranger@mail.example | action_remove=&email=$email | action_primary=&email=$email
account_email_verification_sent
account_change_password | oldpassword=wrong&password1=xxxxxxxxxx&password2=xxxxxxxxxx
account_set_password | password1=alone-again-8&password2=alone-again-8
account_reset_password | email=stranger@mail.example
account_confirm_login_code | code=123456
account_confirm_email
account_reset_password_from_key_done
account_reset_password_from_key | password1=alone-again-8&password2=alone-again-8
account_reset_password_done
mfa_index
mfa_authenticate | code=123456
mfa_reauthenticate | code=123456
mfa_activate_totp | code=123456
mfa_deactivate_totp
mfa_view_recovery_codes
mfa_generate_recovery_codes
mfa_download_recovery_codes
mfa_list_webauthn
mfa_add_webauthn | name=mine&credential={}
mfa_reauthenticate_webauthn | credential={}
mfa_remove_webauthn
mfa_edit_webauthn | name=mine
mfa_login_webauthn | credential={}
socialaccount_login_cancelled
socialaccount_login_error
socialaccount_signup | username=x
socialaccount_connections | account=$social_id
admin/password_change/
accounts/social/login/cancelled/
accounts/social/login/error/
accounts/social/signup/
accounts/social/connections/
openid_connect_login
openid_connect_callback | code=x&state=x
usersessions_list | end_sessions=
"""

STAFF_PAGES = """
sources | words=source | state=paused
add_source | url=https://b.example/feed&title=mine&weight=1&kind=rss
test_source | address=http://127.0.0.1:1/&source=$source_id
curate
  | do=change&source=$source_id&weight=3
  | do=delete&source=$source_id
source
source_plan
edit_source | url=https://b.example/feed&title=mine&weight=3&kind=rss
merge_source | into=$other_source_id | from=$other_source_id
delete_source | why=x
set_source_state | state=paused
check_source
source_pages | pages_per_day=7&max_pages=9&max_index_pages=9&max_depth=2
decide_page | kind=valueless
keen_tags | tags=b+i | do=train
plan | policy=even&budget=9&unit=hour&longest_gap=24&learning_days=14&interest_share=1
dashboard
dashboard_failing
dashboard_queues
dashboard_users | words=quix
set_active | active=no
dashboard_storage
audit | words=source
sections
add_section | title=mine&slug=mine&query=alone&order=newest&page_size=30&front_size=5
edit_section | title=mine&slug=mine&query=alone&order=newest&page_size=30&front_size=5
move_section | way=up
delete_section
jobs
start_job | kind=index
job
change_job
dead_letters
decide_dead_letter | do=discard&id=$stuck_id | do=send&id=$stuck_id
invitations
"""

# Their programs send a token; each pattern is requested with every method.
DIALECTS = """
greader_greet
greader_client_login | Email=x&Passwd=wrong
greader_atom
greader_token
greader_user_info
greader_friends
greader_preferences
greader_stream_preferences
greader_subscriptions
greader_subscription_edit
  | ac=edit&s=feed/$source_id&t=mine
  | ac=unsubscribe&s=feed/$source_id
  | ac=subscribe&s=feed/$source_id
greader_quick_add | quickadd=http://127.0.0.1:1/
greader_export
greader_import
greader_tags
greader_rename_tag | s=user/-/label/stranger&dest=user/-/label/mine
greader_disable_tag | s=user/-/label/stranger
greader_unread_count
greader_edit_tag
  | i=$posting_id&a=user/-/state/com.google/starred
  | i=$posting_id&r=user/-/state/com.google/read
  | i=$posting_id&a=user/-/label/mine
  | i=$posting_id&a=user/-/state/com.google/broadcast
greader_mark_all_as_read | s=feed/$source_id
greader_contents
greader_item_ids | s=feed/$source_id&n=10
greader_items_contents | i=$posting_id
greader_item_count | s=feed/$source_id
fever
  | api&items&with_ids=$posting_id
  | api&groups&feeds&links
  | api&mark=item&as=saved&id=$posting_id
  | api&mark=feed&as=read&id=$source_id
  | api&mark=group&as=read&id=$folder_id
api/fever.php
v1/me
v1/users/<str:who> | {"username": "mine"}
v1/users/<str:who>/mark-all-as-read
v1/export
v1/import
v1/version
v1/integrations/status
v1/flush-history
v1/discover | {"url": "http://127.0.0.1:1/"}
v1/categories | {"title": "mine"}
v1/categories/<int:category_id> | {"title": "mine"}
v1/categories/<int:category_id>/mark-all-as-read
v1/categories/<int:category_id>/refresh
v1/categories/<int:category_id>/feeds
v1/categories/<int:category_id>/entries
v1/categories/<int:category_id>/entries/<int:entry_id>
v1/feeds | {"feed_url": "http://127.0.0.1:1/", "category_id": $category_id}
v1/feeds/refresh
v1/feeds/counters
v1/feeds/<int:feed_id> | {"title": "mine"} | {"category_id": $category_id}
v1/feeds/<int:feed_id>/mark-all-as-read
v1/feeds/<int:feed_id>/refresh
v1/feeds/<int:feed_id>/icon
v1/icons/<int:feed_id>
v1/feeds/<int:feed_id>/entries
v1/feeds/<int:feed_id>/entries/<int:entry_id>
v1/entries | {"entry_ids": [$entry_id], "status": "unread"} | {"entry_ids": [$entry_id], "starred": true}
v1/entries/<int:entry_id> | {"title": "mine"}
v1/entries/<int:entry_id>/bookmark
v1/entries/<int:entry_id>/star
v1/entries/<int:entry_id>/fetch-content
v1/enclosures/<int:enclosure_id> | {"media_progression": 9}
v1/<path:rest>
rest:openapi-json
rest:openapi-view
rest:api-root
api/v1/<path:rest>
"""


def _read(lines: str) -> Mapping[str, tuple[str, ...]]:
    parts = (
        [part.strip() for part in line.split(" | ")] for line in lines.replace("\n  | ", " | ").splitlines() if line
    )
    return {name: tuple(forms) for name, *forms in parts}


ENTRIES = {"page": _read(PAGES), "staff": _read(STAFF_PAGES), "dialect": _read(DIALECTS)}
