! grep --quiet --fixed-strings "$(cat /tmp/password)" /var/log/wirebeat-*.log
curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-all-errors --cacert /root-of-caddy.crt https://news.example/ > /tmp/front.html
grep -q '<html' /tmp/front.html
curl --silent --output /dev/null --write-out '%{http_code}' --cacert /root-of-caddy.crt https://news.example/metrics | grep -x 404
ls /var/backups/wirebeat/*.tar.gz
test -e /var/lib/wirebeat/latest_restore_test
stat --format=%U:%a /var/lib/wirebeat /etc/wirebeat/secret_key
