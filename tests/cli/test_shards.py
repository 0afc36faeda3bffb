"""`score --shard` and `merge`: the same bytes as one process, and nothing that is not a whole is merged."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tests.cli.conftest import SMALL, stripes


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Pictures in an array, 30 of them."""
    path = tmp_path_factory.mktemp("inputs") / "many.npy"
    np.save(path, stripes(30, seed=3))
    return path


@pytest.fixture(scope="module")
def parts(dissensus, gate, inputs, tmp_path_factory):
    """All four parts, scored in no order."""
    folder = tmp_path_factory.mktemp("parts")
    for shard in (2, 0, 3, 1):
        scored(dissensus, gate, inputs, folder / f"part-{shard}.parquet", f"{shard}/4")
    return sorted(folder.iterdir())


def scored(dissensus, gate, data, part, shard, *more):
    answer = dissensus("score", gate, data, "-o", part, "--shard", shard, "--quiet", *more)
    assert answer.code == 0, answer.err
    return part


def refused(answer, *words):
    assert answer.code == 2, answer
    assert answer.err.count("\n") == 1
    for word in words:
        assert word in answer.err


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("options", [(), ("--fdr", "0.7"), ("--drift",), ("--fdr", "0.7", "--drift")])
def test_merged_parts_are_the_bytes_of_one_process(
    dissensus, gate, inputs, parts, tmp_path, monkeypatch, suffix, options
):
    """Parts are read three rows at a time, and Parquet has groups of eight."""
    monkeypatch.setattr("dissensus.outputs.parts.READ", 3)
    monkeypatch.setattr("dissensus.outputs.parquet.GROUP", 8)
    whole, merged = tmp_path / f"whole.{suffix}", tmp_path / f"merged.{suffix}"
    assert dissensus("score", gate, inputs, "-o", whole, *options).code == 0
    assert dissensus("merge", *reversed(parts), "-o", merged, *options).code == 0
    assert merged.read_bytes() == whole.read_bytes()


def test_pictures_that_cannot_be_read_and_names_of_rows_survive(dissensus, gate, fit, folder, tmp_path):
    (folder / "broken.png").write_bytes(b"no picture")
    for suffix in ("jsonl", "parquet"):
        whole = tmp_path / f"whole.{suffix}"
        assert dissensus("score", gate, folder, "-o", whole, "--skip-unreadable").code == 0
        parts = [
            scored(dissensus, gate, folder, tmp_path / f"{n}.parquet", f"{n}/3", "--skip-unreadable")
            for n in range(3)
        ]
        answer = dissensus("merge", *parts, "-o", tmp_path / f"merged.{suffix}", "--json")
        assert answer.json["inputs"] == 8
        assert answer.json["unreadable"] == 1
        assert answer.json["parts"] == 3
        assert (tmp_path / f"merged.{suffix}").read_bytes() == whole.read_bytes()


def test_rows_of_a_table_keep_ids_and_numbers_apart(dissensus, tmp_path):
    import pandas as pd

    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=40), "b": random.normal(size=40)})
    frame["id"] = [f"row {n}" if n % 3 else None for n in range(40)]
    frame.to_csv(tmp_path / "table.csv", index=False)
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=7)
    table_gate = tmp_path / "gate"
    fitted = dissensus("fit", tmp_path / "table.csv", "-o", table_gate, "--id", "id", *SMALL)
    assert fitted.code == 0, fitted.err
    for data in (tmp_path / "table.csv", tmp_path / "table.parquet"):
        assert dissensus("score", table_gate, data, "-o", tmp_path / "whole.jsonl").code == 0
        parts = [scored(dissensus, table_gate, data, tmp_path / f"{n}.parquet", f"{n}/3") for n in range(3)]
        assert dissensus("merge", *parts, "-o", tmp_path / "merged.jsonl").code == 0
        assert (tmp_path / "merged.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_a_part_that_is_there_is_not_scored_again(dissensus, gate, inputs, parts, tmp_path, monkeypatch):
    part = shutil.copy(parts[1], tmp_path / "part.parquet")
    monkeypatch.setattr("dissensus.detector.streaming._decided", None)  # it would be called
    answer = dissensus("score", gate, inputs, "-o", part, "--shard", "1/4", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["inputs"] == 8


def test_an_interrupted_part_goes_on_where_it_stopped(dissensus, gate, inputs, parts, tmp_path, monkeypatch):
    from dissensus.detector import streaming

    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", 4)
    decided, calls = streaming._decided, []

    def once(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return decided(*arguments)

    monkeypatch.setattr(streaming, "_decided", once)
    part = tmp_path / "part.parquet"
    answer = dissensus("score", gate, inputs, "-o", part, "--shard", "1/4")
    assert answer.code == 130
    assert "same command" in answer.err
    scored(dissensus, gate, inputs, part, "1/4")
    assert len(calls) == 3  # the interrupted chunk, once more
    assert part.read_bytes() == parts[1].read_bytes()


def test_only_a_whole_is_merged(dissensus, gate, fit, images_file, inputs, parts, tmp_path):
    output = tmp_path / "all.csv"
    output.write_text("precious")

    def merged(*files):
        return dissensus("merge", *files, "-o", output)

    refused(merged(*parts[:1], *parts[2:]), "shard 1 of 4 is missing", "--shard 1/4")
    refused(merged(parts[0]), "shards 1, 2, 3 of 4 are missing")
    twin = shutil.copy(parts[2], tmp_path / "twin.parquet")
    refused(merged(*parts, twin), "both shard 2 of 4", "twin.parquet")
    assert fit(images_file, tmp_path / "other", "--seed", "1").code == 0
    foreign = scored(dissensus, tmp_path / "other", inputs, tmp_path / "foreign.parquet", "3/4")
    refused(merged(*parts[:3], foreign), "two gates")
    halves = scored(dissensus, gate, inputs, tmp_path / "half.parquet", "1/2")
    refused(merged(*parts[:3], halves), "4 and of 2 shards")
    truncated = tmp_path / "truncated.parquet"
    truncated.write_bytes(parts[3].read_bytes()[:-20])
    refused(merged(*parts[:3], truncated), "truncated.parquet", "score its shard again")
    assert dissensus("score", gate, inputs, "-o", tmp_path / "whole.parquet").code == 0
    refused(merged(tmp_path / "whole.parquet"), "is no part")
    refused(dissensus("merge", *parts, "-o", parts[0]), "one of the parts")
    assert output.read_text() == "precious"


def test_a_folder_that_changed_between_shards_is_refused(dissensus, gate, folder, tmp_path):
    first = scored(dissensus, gate, folder, tmp_path / "0.parquet", "0/2")
    Image.fromarray(stripes(1, seed=8)[0]).save(folder / "new.png")
    second = scored(dissensus, gate, folder, tmp_path / "1.parquet", "1/2")
    refused(dissensus("merge", first, second, "-o", tmp_path / "all.csv"), "7 and 8 inputs", "changed")


def test_the_same_folder_elsewhere_is_the_same(dissensus, gate, folder, tmp_path):
    elsewhere = shutil.copytree(folder, tmp_path / "copy")
    parts = [
        scored(dissensus, gate, place, tmp_path / f"{n}.parquet", f"{n}/2")
        for n, place in enumerate((folder, elsewhere))
    ]
    assert dissensus("merge", *parts, "-o", tmp_path / "all.csv").code == 0


def test_calls_that_cannot_work(dissensus, gate, inputs, tmp_path):
    def score(*more, output=tmp_path / "p.parquet"):
        return dissensus("score", gate, inputs, "-o", output, *more)

    refused(score("--shard", "4/4"), "counted from 0", "3/4")
    refused(score("--shard", "x"), "as in 3/64")
    refused(score("--shard", "1/4", "--fdr", "0.1"), "dissensus merge")
    refused(score("--shard", "1/4", "--drift"), "dissensus merge")
    refused(score("--shard", "1/4", output="-"), "written to a file")
    refused(score("--shard", "1/4", output=tmp_path / "p.csv"), "only Parquet", "p.parquet")
    refused(score("--shard", "1/40"), "30 inputs, too few for 40 shards")


def test_a_full_disk_leaves_the_parts_and_the_old_file(dissensus, parts, tmp_path, monkeypatch):
    import errno

    from dissensus.outputs import writers

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    output = tmp_path / "all.csv"
    output.write_text("precious")
    monkeypatch.setattr(writers._Csv, "_put", full)
    answer = dissensus("merge", *parts, "-o", output)
    assert answer.code == 3
    assert "free some space" in answer.err
    assert output.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["all.csv"]


def test_merging_starts_without_torch():
    """Which takes longer than many a merge."""
    found = "import sys, dissensus.merging, dissensus.cli.merge; print('torch' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", found], check=True, capture_output=True, text=True).stdout
        == "False\n"
    )
