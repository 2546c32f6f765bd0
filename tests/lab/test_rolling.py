"""The site can be replaced while people read."""

from pathlib import Path

from portal.launcher import startup
from tests.portal.test_deployment import unit

SYSTEMD = Path(__file__).parents[2] / "deploy" / "systemd"


def test_the_socket_of_the_site_outlives_its_process():
    """Connections wait in its queue while the site is replaced; gunicorn takes the sockets that systemd hands over."""
    socket = unit(SYSTEMD / "wirebeat-web.socket")["Socket"]
    service = unit(SYSTEMD / "wirebeat-web.service")
    assert f"--bind {socket['ListenStream']} " in service["Service"]["ExecStart"]
    assert service["Unit"]["Requires"] == "wirebeat-web.socket"
    assert int(service["Service"]["TimeoutStopSec"]) > 20
    assert "--graceful-timeout 20 " in service["Service"]["ExecStart"]
    assert startup.commands()["web"]
