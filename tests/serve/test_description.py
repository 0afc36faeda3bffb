"""The description of the API is true: what it says is taken is taken, and answers look as it says."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig

from dissensus.serve.app import Application

LONG = 600.0  # seconds that only a hang takes

CONFIG = {
    # What no schema can say: how wide the gate's rows are (422), that a tensor's data fill its shape (400),
    # who is an operator or a reviewer (403).
    "checks": {
        "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "403", "404", "413", "415", "422"]},
        "negative_data_rejection": {
            "expected-statuses": ["400", "401", "403", "404", "405", "413", "415", "422"]
        },
    },
}
WITHOUT_PARAMETERS = ["GET /gates", "GET /metrics", "GET /v2", "GET /v2/health/live", "GET /v2/health/ready"]
OPERATIONS = [
    *WITHOUT_PARAMETERS,
    "GET /gate",
    "GET /traffic",
    "POST /score",
    "POST /explain",
    "POST /confirm",
    "GET /v2/models/{name}",
    "GET /v2/models/{name}/ready",
    "POST /v2/models/{name}/infer",
    "GET /v2/models/{name}/versions/{version}",
    "GET /v2/models/{name}/versions/{version}/ready",
    "POST /v2/models/{name}/versions/{version}/infer",
    "GET /v2/models/{name}/stats",
    "GET /v2/models/{name}/versions/{version}/stats",
    "POST /v2/repository/index",
    "POST /v2/repository/models/{name}/load",
    "POST /v2/repository/models/{name}/unload",
]


@pytest.fixture(scope="module")
def description(asked):
    return schemathesis.openapi.from_url(
        f"{asked.url}/openapi.json", config=SchemathesisConfig.from_dict(CONFIG)
    )


def test_every_operation_is_described(description):
    found = sorted(
        f"{result.ok().method.upper()} {result.ok().path}" for result in description.get_all_operations()
    )
    assert found == sorted(OPERATIONS)


@pytest.mark.parametrize(
    ("operation", "mode"),
    [(operation, GenerationMode.POSITIVE) for operation in OPERATIONS]
    + [
        (one, GenerationMode.NEGATIVE)
        for one in OPERATIONS
        if one not in (*WITHOUT_PARAMETERS, "POST /v2/repository/index")
    ],
)
def test_the_service_keeps_its_word(description, operation, mode):
    method, path = operation.split()
    strategy = description[path][method].as_strategy(generation_mode=mode)

    @settings(
        # A path that names a version is answered by what answers the one that names none.
        max_examples=4 if "{version}" in path else 10,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy, gate=st.sampled_from([None, "rows", "table", "pictures"]))
    def keeps(case, gate):
        if gate is not None and mode is GenerationMode.POSITIVE:  # no schema knows which gates there are
            if "{name}" in path:
                case.path_parameters["name"] = gate
            elif case.query and "gate" in case.query:
                case.query["gate"] = gate
        case.call_and_validate()

    keeps()


def test_others_are_answered_while_it_is_made(serving, folder, monkeypatch):
    making, made = threading.Event(), threading.Event()
    describe = Application.openapi

    def held(self):
        making.set()
        assert made.wait(LONG)
        return describe(self)

    monkeypatch.setattr(Application, "openapi", held)
    with serving(folder / "rows") as found, ThreadPoolExecutor(2) as clients:
        asking = [clients.submit(found.client.get, "/openapi.json") for _ in range(2)]
        assert making.wait(LONG)
        try:
            assert found.client.get("/v2/health/live").status_code == 200
        finally:
            made.set()
        first, second = (asked.result(LONG) for asked in asking)
    assert first.status_code == second.status_code == 200
    assert first.json() == second.json()
