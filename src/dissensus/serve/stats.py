"""What has been asked of one gate, as the Open Inference Protocol's extension of statistics tells it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Stats"]


@dataclass
class Duration:
    """How often something was done, and how long all of it took."""

    count: int = 0
    seconds: float = 0.0

    def add(self, seconds: float, count: int = 1) -> None:
        """Once more, or several times."""
        self.count += count
        self.seconds += seconds

    def to_json(self) -> dict[str, int]:
        """As the protocol has it, in nanoseconds."""
        return {"count": self.count, "ns": int(self.seconds * 1e9)}


@dataclass
class Stats:
    """Since the gate was loaded."""

    success: Duration = field(default_factory=Duration)
    fail: Duration = field(default_factory=Duration)
    queue: Duration = field(default_factory=Duration)
    """Of pieces of requests, before they were scored."""
    scoring: Duration = field(default_factory=Duration)
    """Of batches."""
    inputs: int = 0
    last: float = 0.0

    def scored(self, inputs: int, seconds: float) -> None:
        """Takes in a batch."""
        self.inputs += inputs
        self.scoring.add(seconds)
        self.last = time.time()

    def to_json(self) -> dict[str, Any]:
        """What the protocol tells of a model."""
        return {
            "last_inference": int(1000 * self.last),
            "inference_count": self.inputs,
            "execution_count": self.scoring.count,
            "inference_stats": {
                "success": self.success.to_json(),
                "fail": self.fail.to_json(),
                "queue": self.queue.to_json(),
                "compute_infer": self.scoring.to_json(),
            },
        }
