"""Every process of a portal can be replaced while people read and feeds are checked."""

from pathlib import Path

import pytest

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


@pytest.mark.trial
@pytest.mark.timeout(600)  # s; the machine may be busy
def test_nothing_fails_and_no_check_is_late_while_all_are_replaced(measured):
    figures = measured("benchmark_rolling", "--rounds", "1", "--rate", "4", "--feeds", "20")
    assert figures["replaced"] == 4
    assert figures["requests"] > 20
    assert figures["retrievals"] > 10
    assert (figures["errors"], figures["late"]) == (0, 0)
