"""A Prometheus with the portal's alert rules, as an operator has."""

import json
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.request import urlopen

from lab.chaos.rabbitmq import HOST, free_port
from portal.launcher import processes
from portal.launcher.embedded import StartError
from portal.launcher.startup import ROOT

RULES = ROOT / "deploy" / "prometheus" / "alerts.yaml"
PROGRAM = shutil.which("prometheus")  # of Debian's package
CONFIGURATION = """
global: {{scrape_interval: {interval}s, scrape_timeout: {interval}s, evaluation_interval: {interval}s}}
rule_files: ["{rules}"]
scrape_configs: [{{job_name: wirebeat, static_configs: [{{targets: ["{target}"]}}]}}]
"""


class Monitor:
    """Scrapes the site at `target`, a host and port, every few seconds; a busy machine may take some to answer."""

    def __init__(self, target: str, folder: Path, *, interval: int = 5) -> None:
        self._target, self._folder, self._interval = target, folder, interval
        self.address = f"{HOST}:{free_port()}"

    def __enter__(self) -> Self:
        if PROGRAM is None:
            raise StartError("Awaiting alerts needs Prometheus: install Debian's package prometheus.")
        self._folder.mkdir(parents=True)
        configuration = self._folder / "prometheus.yml"
        settings = CONFIGURATION.format(rules=RULES, target=self._target, interval=self._interval)
        configuration.write_text(settings, encoding="utf-8")
        options = [f"--storage.tsdb.path={self._folder / 'data'}", f"--web.listen-address={self.address}"]
        with (self._folder / "log").open("wb") as log:
            self._process = processes.spawn(
                [PROGRAM, f"--config.file={configuration}", *options],
                death_signal=signal.SIGKILL,
                stdout=log,
                stderr=log,
            )
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()

    def firing(self) -> Mapping[str, str]:
        """The remedies that alerts name which fire, by the alerts' names."""
        with suppress(OSError), urlopen(f"http://{self.address}/api/v1/alerts", timeout=10) as response:
            alerts = json.load(response)["data"]["alerts"]
            return {
                alert["labels"]["alertname"]: alert["annotations"]["remedy"]
                for alert in alerts
                if alert["state"] == "firing"
            }
        time.sleep(0.5)  # it is just starting
        return {}
