"""Spark: the same question on any cluster, the positions in partitions, the rules sent to every executor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ggn_store.columnar import sql
from ggn_store.columnar.batch import Batch
from ggn_store.columnar.compile import Compiled
from ggn_store.columnar.engine import Engine
from ggn_store.columnar.extras import need
from ggn_store.errors import GgnStoreError, printable

EXTRA: Final = "spark"
LOCAL: Final = "local[*]"
# In local mode the driver does all the work, and its default is 1g.
_LOCAL_MEMORY: Final = "4g"
# Parts of the work for each processor of the cluster, and how many rows are not worth a part.
_PARTS: Final = 2
_LEAST: Final = 10_000


class SparkEngine(Engine):
    """A compiled ruleset in a session of Spark.

    `master` is the cluster's URL, by default all processors of this machine; a session that runs already is used,
    whatever its master. With `directory`, which executors have to reach (`s3a://...`), the rules are read from the
    files that `compile.write` wrote there, else they are sent along. Raises GgnStoreError where pyspark or Java is
    missing, or the cluster is not to be reached.
    """

    def __init__(self, compiled: Compiled, master: str | None = None, directory: str | None = None) -> None:
        super().__init__(compiled, sql.SPARK)
        spark_sql = need("pyspark.sql", EXTRA)
        broadcast = need("pyspark.sql.functions", EXTRA).broadcast
        need("pyarrow", EXTRA)
        self._error: Any = need("pyspark.errors", EXTRA).PySparkException
        try:
            builder = spark_sql.SparkSession.builder.appName("ggn-store").master(master or LOCAL)
            builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
            if (master or LOCAL).startswith("local"):
                builder = builder.config("spark.driver.memory", _LOCAL_MEMORY)
            running = builder.getOrCreate()
            # Views of its own, whoever else uses the session.
            self._session = running.newSession()
            # Positions go to the executors as they are, instead of into the driver's plan.
            self._session.conf.set("spark.sql.execution.arrow.localRelationThreshold", "0")
            # Spark's defaults, 200 parts whatever there is to do, cost more than the work itself.
            self._parts = _PARTS * self._session.sparkContext.defaultParallelism
            self._session.conf.set("spark.sql.shuffle.partitions", str(self._parts))
            self._views: list[str] = []
            self._broadcast = broadcast
            if directory is None:
                self._load({name: compiled.tables[name] for name in sql.TABLES})
            else:
                for name in sql.TABLES:
                    self._add(name, self._session.read.parquet(f"{directory}/{name}.parquet"))
        except Exception as error:  # pyspark raises its own, py4j's, and RuntimeError without Java
            first, *_ = str(error).splitlines() or [type(error).__name__]
            raise GgnStoreError(
                f"Spark cannot be started: {printable(first)}; it needs Java 17 or newer, and a master that can be "
                "reached"
            ) from None

    def close(self) -> None:
        """Forget the views; the session goes on, for it may be somebody else's, too."""
        for name in self._views:
            self._session.catalog.dropTempView(name)

    def _load(self, tables: Mapping[str, Any]) -> None:
        for name, table in tables.items():
            self._add(name, self._session.createDataFrame(table))

    def _add(self, name: str, frame: Any) -> None:
        self._broadcast(frame).createOrReplaceTempView(name)
        self._views.append(name)

    def _ask(self, question: str, batch: Batch) -> Any:
        try:
            for name, table in batch.tables.items():
                records = max(_LEAST, -(-table.num_rows // self._parts))
                self._session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(records))
                self._session.createDataFrame(table).createOrReplaceTempView(name)
            return self._session.sql(question).toArrow()
        except self._error as error:
            first, *_ = str(error).splitlines() or [type(error).__name__]
            raise GgnStoreError(f"Spark cannot answer: {printable(first)}") from None
