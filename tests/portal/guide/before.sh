set -eux
trap 'tail --lines=30 /var/log/wirebeat-*.log >&2' ERR
# The interpreter of a test may lie in someone's home, where the services' user may not go.
path=$(sed --quiet "s/^home = //p" "$CHECKOUT/.venv/pyvenv.cfg")
while [ "$path" != / ]; do chmod a+rx "$path"; path=$(dirname "$path"); done
ip link set lo up
mount -t tmpfs tmpfs /run
mkdir -p /run/postgresql
chown postgres /run/postgresql
rm -rf /var/lib/postgresql/15/main /etc/postgresql/15/main
pg_createcluster --locale C.UTF-8 15 main
pg_ctlcluster 15 main start
redis-server --port 6379 --daemonize yes --save '' > /dev/null
echo '127.0.0.1 news.example' >> /etc/hosts
