"""Files of positions in and of answers out, read and written by the executors of a session of Spark."""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from ggn_store.columnar.extras import need
from ggn_store.columnar.spark import EXTRA, ROWS, column
from ggn_store.errors import GgnStoreError, InputError, printable

FORMATS: Final = {"parquet": "parquet", "csv": "csv", "ndjson": "json", "jsonl": "json", "json": "json"}
_PACKED: Final = re.compile(r"\.(gz|bz2|zst|lz4|snappy|deflate)$")
# What a position with a FEEN text in JSON has; a row of a table has more, or less.
_POSITION: Final = {"feen", "state"}
# Seconds without any executor, which a cluster may first have to start, after which one is not waited for; and between
# looks.
_PATIENCE: Final = 600
_LOOK: Final = 2
_LACKING: Final = re.compile(r"^(?:ImportError|ModuleNotFoundError): (.*)|(PYTHON_VERSION_MISMATCH.*)", re.MULTILINE)
_PART: Final = "spark.sql.files.maxPartitionBytes"
_MORE_MEMORY: Final = (
    "memory was too small: give executors more, spark.executor.memory for Java and spark.executor.memoryOverhead for "
    "Python (some 400m for each processor), or less to do at once, spark.executor.cores"
)


@contextmanager
def session(master: str | None) -> Iterator[Any]:
    """A session on a cluster, else as Spark is configured, else on this machine; one that runs already stays so.

    Settings are those of Spark's own files and environment. Raises GgnStoreError where pyspark or Java is missing, the
    cluster cannot be reached, has no executor to give for ten minutes, or fails at what it is asked in the block.
    """
    spark_sql = need("pyspark.sql", EXTRA)
    need("pyarrow", EXTRA)
    # That is about pandas, which nothing here asks for.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    running = spark_sql.SparkSession.getActiveSession()
    builder = spark_sql.SparkSession.builder.appName("ggn-store")
    if running is None:
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        # A driver without memory would linger on; whatever else is set for its Java stays.
        os.environ["SPARK_SUBMIT_OPTS"] = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} -XX:+ExitOnOutOfMemoryError"
    try:
        found = (builder if master is None else builder.master(master)).getOrCreate()
        # Which a cluster that cannot be reached has stopped.
        context = found.sparkContext
        context._jsc.sc().statusTracker()
    except Exception as error:  # pyspark raises its own, py4j's, and RuntimeError without Java
        raise GgnStoreError(
            f"Spark cannot be started: {_first_line(error)}; it needs Java 17 or newer, and a master that can be "
            "reached"
        ) from None
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        # Spark would take the first python3 on the path.
        context.pythonExec = sys.executable
    context.setLogLevel("ERROR")
    if not context.getConf().contains(_PART):
        # Spark's own takes a task some ten minutes, all of which is lost with an executor.
        found.conf.set(_PART, "8m")
    try:
        with _watched(context):
            yield found
    finally:
        if running is None:
            with suppress(Exception):  # where the driver has ended
                found.stop()


@contextmanager
def _watched(context: Any) -> Iterator[None]:
    """Have what fails say why, and do not wait for executors that never come."""
    watch = _Watch(context)
    if not context.master.startswith("local"):
        watch.start()
    try:
        yield
    except Exception as error:  # pyspark raises its own and py4j's
        lost_driver = isinstance(error, ConnectionRefusedError | ConnectionResetError)
        if not lost_driver and not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        if watch.is_lost:
            raise GgnStoreError(
                f"{context.master} has had no executor for {_PATIENCE} s: its workers may be busy, gone, or have less "
                "memory or fewer processors than spark.executor.memory and spark.executor.cores ask for"
            ) from None
        raise _explained(error) from None
    finally:
        watch.done.set()


class _Watch(threading.Thread):
    """Cancels what waits while there is no executor, for which Spark itself would wait for ever."""

    def __init__(self, context: Any) -> None:
        super().__init__(daemon=True)
        self._context = context
        self.done = threading.Event()
        self.is_lost = False

    def run(self) -> None:
        seen = time.monotonic()
        while not self.done.wait(_LOOK):
            try:
                # The driver is one.
                if len(self._context._jsc.sc().statusTracker().getExecutorInfos()) > 1:
                    seen = time.monotonic()
                elif time.monotonic() - seen > _PATIENCE:
                    self.is_lost = True
                    self._context.cancelAllJobs()
            except Exception:  # the driver has ended, which is told where it is asked
                return


def _explained(error: Exception) -> GgnStoreError:
    """What an error of Spark says to those who use it."""
    text = str(error)
    if found := _LACKING.search(text):
        return GgnStoreError(f"Spark's executors cannot answer: {printable(found[1] or found[2])}")
    first = _first_line(error)
    if isinstance(error, OSError) or type(error).__name__ in ("Py4JNetworkError", "Py4JError"):
        return GgnStoreError(f"Spark's driver has ended ({first}): give it more memory, spark.driver.memory")
    if re.search(r"OutOfMemoryError|exit(?:ed with)? code (?:137|52)|crashed|maxResultSize", text):
        more = "write large answers with -o" if "maxResultSize" in text else _MORE_MEMORY
        return GgnStoreError(f"Spark cannot answer: {first}; {more}")
    if "PATH_" in first:
        return InputError(f"Spark refuses: {first}")
    return GgnStoreError(f"Spark cannot answer: {first}")


def _first_line(error: Exception) -> str:
    first, *_ = str(error).strip().splitlines() or [type(error).__name__]
    return printable(first)


def format_of(place: str) -> str | None:
    """Spark's name of the format that the name of a file or directory says; None where it says none."""
    return FORMATS.get(_PACKED.sub("", place.rstrip("/")).rpartition(".")[2].lower())


def read(session: Any, place: str) -> tuple[Any, bool]:
    """A file, or a directory of files, of positions as a DataFrame; and whether they are lines of JSON.

    Lines are in a column `line`, numbered from 0 in `position`. Raises InputError for what is in no known format.
    """
    found = format_of(place)
    if found is None:
        # Names only: nobody reads the files for this.
        file = session.read.format("binaryFile").option("recursiveFileLookup", "true").load(place).select("path").head()
        found = file and format_of(file.path)
    if not found:
        raise InputError(f"{printable(place)}: no file whose name ends with {', '.join(FORMATS)} (or those with .gz)")
    if found == "parquet":
        return session.read.parquet(place), False
    if found == "csv":
        return session.read.csv(place, header=True, escape='"'), False
    lines = session.read.text(place).where("value RLIKE '\\\\S'").withColumnRenamed("value", "line")
    first = lines.head()
    if first is not None and _is_table(first.line):
        return session.read.json(place), False
    return _numbered(lines), True


def _is_table(line: str) -> bool:
    """Whether a line of JSON is a row of a table, and not a position."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    keys = set(record) if isinstance(record, dict) else set()
    return ("feen" in keys and not keys <= _POSITION) or keys >= set(ROWS)


def _numbered(lines: Any) -> Any:
    """Lines with their numbers from 0: those of each part are counted first."""
    sf: Any = need("pyspark.sql.functions", EXTRA)
    number, part = sf.monotonically_increasing_id(), sf.spark_partition_id()
    counted = {row.part: row["count"] for row in lines.groupBy(part.alias("part")).count().collect()}
    parts = range(max(counted, default=0) + 1)
    begins = [*itertools.accumulate((counted.get(at, 0) for at in parts), initial=0)]
    # The number within a part is in the lower 33 bits.
    return lines.select((number.bitwiseAND(sf.lit((1 << 33) - 1)) + sf.lit(begins)[part]).alias("position"), "line")


def records(frame: Any) -> Iterator[dict[str, Any]]:
    """The rows as JSON data, part by part."""
    sf: Any = need("pyspark.sql.functions", EXTRA)
    record = sf.to_json(sf.struct(*map(column, frame.columns)), {"ignoreNullFields": "false"})
    for row in frame.select(record.alias("record")).toLocalIterator(prefetchPartitions=True):
        yield json.loads(row.record)


def write(frame: Any, place: str) -> tuple[int, int]:
    """Have executors write the rows into a new directory, in the format of its name; how many, and with an error."""
    sf: Any = need("pyspark.sql.functions", EXTRA)
    observed = need("pyspark.sql", EXTRA).Observation("ggn-store")
    rows, errors = sf.count(sf.lit(1)).alias("rows"), sf.count("error").alias("errors")
    writer = frame.observe(observed, rows, errors).write.format(format_of(place))
    writer.options(header="true", escape='"').save(place)
    found = observed.get
    return found["rows"], found["errors"]
