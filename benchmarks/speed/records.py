"""The records: one a device and part, and ``speed.json``, the comparisons of all of them in one flat list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from dissensus.destination import write_output
from dissensus.evaluation import environment, read_records, write_record

__all__ = ["all_records", "hardware", "merge", "write_part"]

DEVICES = ("cpu", "cuda")


def hardware(device: torch.device) -> str:
    """What it ran on, in words."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    found = environment()
    return f"{found['processor']}, {found['cores']} cores"


def write_part(
    output: Path, part: str, device: torch.device, measured: dict[str, Any], *, data: str, seconds: float
) -> None:
    """Keeps what was measured, with all that it was measured with."""
    gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else None
    record = {
        "part": part,
        "device": device.type,
        "hardware": hardware(device),
        "threads": torch.get_num_threads(),
        "data": data,
        "seconds": seconds,
        **measured,
        "environment": environment(gpu=gpu),
    }
    write_record(output / device.type / f"{part}.json", record)


def all_records(output: Path) -> list[dict[str, Any]]:
    """Every record there is, CPU first."""
    return [
        record
        for device in DEVICES
        if (output / device).is_dir()
        for record in read_records(output / device).values()
    ]


def merge(output: Path) -> list[dict[str, Any]]:
    """Writes ``speed.json`` anew from all records, and returns it."""
    rows = [
        {"name": one["name"], "hardware": record["hardware"], **one, "part": record["part"]}
        for record in all_records(output)
        for one in record["comparisons"]
    ]
    output.mkdir(parents=True, exist_ok=True)
    write_output(output / "speed.json", json.dumps(rows, indent=2, ensure_ascii=False).encode() + b"\n")
    return rows
