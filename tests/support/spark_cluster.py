"""A standalone cluster of Spark on this machine: a master and workers, each a process of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from tests.support.guides import ROOT

HOST = "127.0.0.1"
# What executors and drivers need: this tree, and the Python that runs it.
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": HOST}
_DEPLOY = "org.apache.spark.deploy"
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with (master)")


@dataclass(frozen=True, slots=True)
class Cluster:
    """The URL of a master, and its workers, in the order in which they were started."""

    url: str
    workers: list[subprocess.Popen[str]]

    def kill(self, number: int) -> None:
        """Kill a worker, with its executors, as a machine that is switched off."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)


@contextmanager
def cluster(directory: Path, workers: int = 2, memory: str = "2g") -> Iterator[Cluster]:
    """A cluster whose workers have one processor each, and this memory; it works in a directory."""
    processes: list[subprocess.Popen[str]] = []

    def start(what: str, said: re.Pattern[str], *words: str) -> str:
        process = _started(directory, f"{_DEPLOY}.{what}", "--host", HOST, "--port", "0", "--webui-port", "0", *words)
        processes.append(process)
        return _wait(process, said)

    try:
        url = start("master.Master", _MASTER)
        for number in range(workers):
            place = str(directory / f"worker-{number}")
            start("worker.Worker", _REGISTERED, "--cores", "1", "--memory", memory, "--work-dir", place, url)
        yield Cluster(url, processes[1:])
    finally:
        for process in reversed(processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _started(directory: Path, *words: str) -> subprocess.Popen[str]:
    found = importlib.util.find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    home = Path(found.origin).parent
    environment = os.environ | ENVIRONMENT | {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "512m"}
    return subprocess.Popen(
        [home / "bin" / "spark-class", *words],
        cwd=directory,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[str], said: re.Pattern[str]) -> str:
    """What a process says once it is ready; what it says afterwards is thrown away."""
    assert process.stderr is not None
    told = []
    for line in process.stderr:
        told.append(line)
        if found := said.search(line):
            threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
            return found[1]
    raise RuntimeError(f"a part of the cluster has ended: {''.join(told[-5:])}")


def _drain(stream: TextIO) -> None:
    with stream:
        stream.read()
