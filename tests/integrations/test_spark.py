"""The recipe of docs/scale.md for Spark, where PySpark and Java are; `make` installs neither."""

import shutil
import warnings

import numpy as np
import pytest

from dissensus import BayesianFlow

pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]


@pytest.fixture
def spark():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("mlflow.pyfunc", reason="MLflow is not installed: make test-integrations")
        sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed: pip install pyspark")
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


def test_a_column_of_decisions_is_what_the_gate_decides(spark, inliers, tmp_path):
    import mlflow
    import pandas as pd
    from pyspark.sql.functions import struct

    from dissensus.integrations.mlflow import save_model

    columns = list("abc")
    frame = pd.DataFrame(inliers, columns=columns)
    gate = BayesianFlow(epochs=2, false_alarm_rate=0.1, device="cpu").fit(frame)
    save_model(gate, tmp_path / "gate")
    score = mlflow.pyfunc.spark_udf(
        spark, str(tmp_path / "gate"), result_type="score double, p_value double, flagged boolean"
    )
    scored = spark.createDataFrame(frame).repartition(3).withColumn("found", score(struct(*columns)))
    found = scored.select("*", "found.*").toPandas()
    assert len(found) == len(frame)
    expected = gate.decide(found[columns])
    for name in ("score", "p_value", "flagged"):
        np.testing.assert_array_equal(found[name], getattr(expected, name))
