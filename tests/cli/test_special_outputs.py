"""`-o` as people use it: links stay links, pipes and devices are written to, a full disk loses nothing."""

import csv
import io
import json
import os
import queue
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests import warm_python

COLUMNS = "input,score,p_value,flagged"
COMMANDS = ["score", "report", "merge", "export"]
LITTLE_SPACE = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
from dissensus.cli import main
main()
"""
unix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes by name")


@pytest.fixture
def small(gate, tmp_path):
    """A gate and a few inputs in a folder of their own, so that ``tmp_path`` holds outputs only."""
    from PIL import Image

    folder = tmp_path / "inputs"
    folder.mkdir()
    for shade in range(6):
        Image.new("L", (8, 8), 40 * shade).save(folder / f"{shade}.png")
    return gate, folder


@pytest.fixture(scope="session")
def parts(dissensus, gate, images_file, tmp_path_factory):
    """Both shards of a scoring."""
    pytest.importorskip("pyarrow")
    files = [tmp_path_factory.mktemp("shards") / f"part-{shard}.parquet" for shard in range(2)]
    for shard, file in enumerate(files):
        answer = dissensus("score", gate, images_file, "-o", file, "--shard", f"{shard}/2", "-q")
        assert answer.code == 0, answer.err
    return files


@pytest.fixture
def quickly(monkeypatch):
    """What ``export`` writes, so that not each of these tests makes a graph of a gate."""
    monkeypatch.setattr("dissensus.export.exported", lambda _: b"onnx")
    monkeypatch.setattr("dissensus.cli.export._compared", lambda *_: None)


@pytest.fixture
def to(small, parts, quickly):
    """The words that come before an output's name, by command."""
    return {
        "score": ["score", *small, "-o"],
        "report": ["report", *small, "-o"],
        "merge": ["merge", *parts, "-o"],
        "export": ["export", small[0]],
    }


@pytest.fixture
def rows(dissensus, small):
    """What is printed without any output."""
    answer = dissensus("score", *small)
    assert answer.code == 0
    return answer.out


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "inputs")


def device(path, major, minor):
    """A character device made for this test: never use one in /dev, which a mistake would replace."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
        os.close(os.open(path, os.O_WRONLY))
    except (OSError, AttributeError):
        pytest.skip("devices cannot be made or used here")
    return path


def reading(pipe):
    """Makes a pipe, and gives a function that waits for all that is written to it."""
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()

    def result():
        reader.join(timeout=600)
        return found[0].decode()

    return result


@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_stays_a_device(dissensus, to, tmp_path, command):
    null = device(tmp_path / "null", 1, 3)
    answer = dissensus(*to[command], null)
    assert answer.code == 0, answer.err
    assert stat.S_ISCHR(null.stat().st_mode)
    assert names(tmp_path) == ["null"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_device_is_one_sentence(dissensus, to, tmp_path, command):
    full = device(tmp_path / "full", 1, 7)
    answer = dissensus(*to[command], full, "-q")
    assert answer.code == 3
    assert (
        answer.err == f"{full} cannot be written (No space left on device): free some space or choose "
        "another place\n"
    )
    assert stat.S_ISCHR(full.stat().st_mode)


@unix
@pytest.mark.parametrize("fdr", [[], ["--fdr", "0.9"]], ids=["row by row", "all together"])
def test_rows_go_through_a_pipe(dissensus, small, rows, tmp_path, fdr):
    found = reading(tmp_path / "pipe")
    answer = dissensus("score", *small, "-o", tmp_path / "pipe", "--json", *fdr)
    assert answer.code == 0, answer.err
    assert answer.json["inputs"] == 6
    got, expected = (list(csv.DictReader(io.StringIO(text))) for text in (found(), rows))
    assert [row["score"] for row in got] == [row["score"] for row in expected]
    assert (tmp_path / "pipe").is_fifo()
    assert names(tmp_path) == ["pipe"]


@unix
def test_rows_leave_as_they_come(gate, tmp_path):
    """The first answer can be read from the pipe while the next input is still to be written."""
    os.mkfifo(tmp_path / "pipe")
    process = warm_python.Popen(
        [sys.executable, "-m", "dissensus", "score", gate, "-", "-o", "pipe", "--format", "jsonl", "-q"],
        stdin=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    lines = queue.Queue()

    def read():
        with (tmp_path / "pipe").open() as pipe:
            for line in pipe:
                lines.put(json.loads(line)["input"])
        lines.put("the end")

    threading.Thread(target=read, daemon=True).start()
    for number in range(3):
        process.stdin.write(json.dumps({"id": number, "values": [[number] * 8] * 8}) + "\n")
        process.stdin.flush()
        assert lines.get(timeout=600) == number
    process.stdin.close()
    assert lines.get(timeout=600) == "the end"
    assert process.wait() == 0


@unix
def test_a_pipe_ends_for_its_reader_if_the_work_fails(dissensus, gate, tmp_path):
    found = reading(tmp_path / "pipe")
    assert dissensus("score", gate, tmp_path / "none.npy", "-o", tmp_path / "pipe").code == 2
    assert found() == ""


@unix
def test_a_page_goes_through_a_pipe_without_a_record(dissensus, small, tmp_path):
    found = reading(tmp_path / "pipe.any")
    answer = dissensus("report", *small, "-o", tmp_path / "pipe.any", "--json")
    assert answer.code == 0, answer.err
    assert found().startswith("<!doctype html>")
    assert answer.json["inputs"] == 6
    assert names(tmp_path) == ["pipe.any"]


@unix
@pytest.mark.parametrize("name", ["pipe", "pipe.of.any.name"])
@pytest.mark.parametrize("command", ["merge", "export"])
def test_merged_rows_and_exported_gates_go_through_a_pipe(dissensus, to, tmp_path, command, name):
    found = reading(tmp_path / name)
    answer = dissensus(*to[command], tmp_path / name, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["output"] == str(tmp_path / name)
    whole = found()
    assert whole == "onnx" if command == "export" else len(whole.splitlines()) == 61
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize(("command", "name"), [("merge", "rows.csv"), ("export", "gate.onnx")])
def test_links_to_merged_rows_and_exported_gates_stay(dissensus, to, tmp_path, command, name, dangling):
    (tmp_path / "deep").mkdir()
    (tmp_path / name).symlink_to(f"deep/real-{name}")
    if not dangling:
        (tmp_path / "deep" / f"real-{name}").write_text("old")
    answer = dissensus(*to[command], tmp_path / name)
    assert answer.code == 0, answer.err
    assert (tmp_path / name).is_symlink()
    assert names(tmp_path) == ["deep", name]
    assert (tmp_path / "deep" / f"real-{name}").read_text().startswith(("onnx", "input,score"))


@pytest.mark.parametrize("dangling", [False, True])
def test_links_stay_links(dissensus, small, rows, tmp_path, dangling):
    (tmp_path / "deep").mkdir()
    for name in ("rows.csv", "page.html", "page.json"):
        (tmp_path / name).symlink_to(f"deep/real-{name}")
        if not dangling:
            (tmp_path / "deep" / f"real-{name}").write_text("old")
    assert dissensus("score", *small, "-o", tmp_path / "rows.csv").code == 0
    assert dissensus("report", *small, "-o", tmp_path / "page.html").code == 0
    assert (tmp_path / "deep" / "real-rows.csv").read_text() == rows
    assert "<html" in (tmp_path / "deep" / "real-page.html").read_text()
    assert json.loads((tmp_path / "deep" / "real-page.json").read_text())["inputs"] == 6
    assert all((tmp_path / name).is_symlink() for name in ("rows.csv", "page.html", "page.json"))
    assert names(tmp_path / "deep") == ["real-page.html", "real-page.json", "real-rows.csv"]
    assert names(tmp_path) == ["deep", "page.html", "page.json", "rows.csv"]


def test_an_explanation_behind_links(dissensus, small, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "why").symlink_to("deep/why")
    assert dissensus("explain", *small, "-o", tmp_path / "why").code == 0
    assert (tmp_path / "why").is_symlink()
    assert (tmp_path / "deep" / "why" / "explanation.json").is_file()


def test_a_gate_behind_a_link_that_names_nothing_yet(fit, images_file, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "gate").symlink_to("deep/real")
    assert fit(images_file, tmp_path / "gate").code == 0
    assert (tmp_path / "gate").is_symlink()
    assert names(tmp_path / "deep") == ["real"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dash_is_stdout(dissensus, to, rows, command):
    answer = dissensus(*to[command], "-")
    assert answer.code == 0, answer.err
    ends = {"score": rows.splitlines()[-1], "report": "</html>", "export": "onnx"}
    assert answer.out.strip().endswith(ends.get(command, ""))
    # The summary is not among the results.
    assert ("-: 0.0 MB" if command == "export" else "flagged") in answer.err
    assert not Path("-").exists()
    refused = dissensus(*to[command], "-", "--json")
    assert (refused.code, refused.out) == (2, "")
    assert "--json" in refused.err


def test_parquet_on_stdout_is_for_programs(small):
    parquet = pytest.importorskip("pyarrow.parquet")
    command = [sys.executable, "-m", "dissensus", "score", *small, "--format", "parquet", "-q"]
    answer = warm_python.run(command, capture_output=True, check=True)
    assert parquet.read_table(io.BytesIO(answer.stdout)).num_rows == 6


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no terminals to make")
def test_parquet_is_not_for_terminals(small):
    theirs, ours = os.openpty()
    command = [sys.executable, "-m", "dissensus", "score", *small, "--format", "parquet", "-q"]
    answer = warm_python.run(command, stdout=ours, stderr=subprocess.PIPE, text=True, check=False)
    os.close(ours)
    os.close(theirs)
    assert answer.returncode == 2
    assert "Parquet is no text for a terminal" in answer.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "-o", "{}/rows.csv"],
        ["report", "-o", "{}/page.html"],
        ["explain", "-o", "{}/why"],
        ["calibrate", "-o", "{}/gate"],
        ["export", "{}/gate.onnx"],
        ["merge", "-o", "{}/rows.csv"],
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize("where", ["file", "read-only"])
def test_bad_places_are_refused_before_any_work(dissensus, small, tmp_path, monkeypatch, arguments, where):
    def work(*_, **__):
        pytest.fail("the work was begun")

    for name in ("Detector.load", "BayesianVAE.load", "merging.open_parts"):
        monkeypatch.setattr(f"dissensus.{name}", work)
    (tmp_path / "file").write_text("mine")
    folder = tmp_path / "file"
    if where == "read-only":
        if not Path("/proc/self").is_dir():
            pytest.skip("this system has no /proc")
        folder = "/proc"  # not even root can make files there
    command, *rest = (argument.format(folder) for argument in arguments)
    answer = dissensus(command, *small[: 1 if command == "export" else 2], *rest)
    assert (answer.code, answer.out) == (2, "")
    assert "cannot be written" in answer.err
    assert len(answer.err.splitlines()) == 1
    assert (tmp_path / "file").read_text() == "mine"
    assert names(tmp_path) == ["file"]


def test_a_folder_for_a_file_and_stdout_for_a_folder(
    dissensus, fit, to, small, images_file, tmp_path, monkeypatch
):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    for command in COMMANDS:
        for name in ("folder", "link"):
            answer = dissensus(*to[command], tmp_path / name)
            assert answer.code == 2
            assert f"{tmp_path / name} is a folder" in answer.err
    monkeypatch.setattr("dissensus.demo.run_demo", lambda *_, **__: pytest.fail("the demo was begun"))
    for answer in (
        fit(images_file, "-"),
        dissensus("explain", *small, "-o", "-"),
        dissensus("demo", "-o", "-"),
    ):
        assert answer.code == 2
        assert "stdout" in answer.err
    assert not Path("-").exists()
    assert names(tmp_path) == ["folder", "link"]


@pytest.mark.parametrize(("command", "name"), [("merge", "rows.txt"), ("export", "gate.pt")])
def test_a_name_that_promises_another_format_is_refused(dissensus, to, tmp_path, command, name):
    answer = dissensus(*to[command], tmp_path / name)
    assert answer.code == 2
    assert {"merge": ".parquet", "export": "gate.onnx"}[command] in answer.err
    assert names(tmp_path) == []


def test_a_terminal_gets_no_graph(small):
    if not hasattr(os, "openpty"):
        pytest.skip("this system has no terminals to make")
    theirs, ours = os.openpty()
    command = [sys.executable, "-m", "dissensus", "export", small[0], "-"]
    answer = warm_python.run(command, stdout=ours, stderr=subprocess.PIPE, text=True, check=False)
    os.close(ours)
    os.close(theirs)
    assert answer.returncode == 2
    assert "no text for a terminal" in answer.stderr


@unix
@pytest.mark.parametrize(
    ("command", "name", "kept"),
    [
        ("score", "rows.csv", [".rows.csv.partial"]),
        ("report", "page.html", []),
        ("merge", "rows.csv", []),
        ("export", "gate.onnx", []),
    ],
)
def test_a_disk_that_fills_up_keeps_the_old_file(gate, images_file, parts, tmp_path, command, name, kept):
    """The limit stands for a full disk: no file of this process may have more than a kilobyte."""
    (tmp_path / name).write_text("old")
    given = {"merge": [*parts, "-o"], "export": [gate]}.get(command, [gate, images_file, "-o"])
    run = [sys.executable, "-c", LITTLE_SPACE, command, *given, name, "-q"]
    answer = warm_python.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert answer.returncode == 3, answer.stderr
    last = answer.stderr.splitlines()[-1]
    assert name in last
    assert "cannot be written (File too large): free some space" in last
    assert "Traceback" not in answer.stderr
    assert (tmp_path / name).read_text() == "old"
    assert names(tmp_path) == sorted([name, *kept])  # rows that are done wait for the same command


@unix
@pytest.mark.parametrize("command", ["score", "inspect", "report -o -"])
def test_a_full_stdout_is_one_sentence(small, tmp_path, command):
    full = device(tmp_path / "full", 1, 7)
    words, gate_and_data = command.split(), small if command != "inspect" else small[:1]
    with full.open("wb") as out:
        answer = warm_python.run(
            [sys.executable, "-m", "dissensus", words[0], *gate_and_data, *words[1:]],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert answer.returncode == 3
    assert len(answer.stderr.splitlines()) == 1
    assert "No space left on device" in answer.stderr
