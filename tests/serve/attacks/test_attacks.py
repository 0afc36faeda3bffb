"""Each attack of the benchmark, on a small scale and for a moment: honest clients get their answers."""

import asyncio
import threading
import time

import pytest

from benchmarks.service.attacks import ATTACKS, Target

LONG = 600.0  # seconds that only a hang takes
SECONDS, SCALE = 0.4, 0.01


@pytest.mark.parametrize("name", ATTACKS)
def test_honest_clients_are_answered_under_attack(serving, folder, pictures, as_png, library, name):
    """How fast is measured by ``python -m benchmarks attacks``; here it is about what is said."""
    wanted = library["pictures"].decide(pictures[:1]).score[0]
    with serving(folder / "pictures", connections=64, max_inputs=256, max_body_mb=1.0) as found:
        target = Target(int(found.url.rpartition(":")[2]), time.monotonic() + SECONDS, SCALE)
        attacking = threading.Thread(target=lambda: asyncio.run(ATTACKS[name].run(target)))
        attacking.start()
        asked = 0
        while attacking.is_alive() or not asked:
            answer = found.score([as_png(pictures[0])])
            assert answer.status_code == 200
            assert answer.json()["results"][0]["score"] == pytest.approx(wanted, rel=1e-6)
            assert found.client.get("/v2/health/live").status_code == 200
            asked += 1
        attacking.join(LONG)
        assert found.client.get("/v2/health/ready").json()["problems"] == []
