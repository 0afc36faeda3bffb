"""`fit --chain-offset` on several machines, and `join`."""

import json


def test_joined_parts_are_the_gate_of_one_fit(dissensus, fit, images_file, gate, tmp_path):
    one = ("--chains", "1", "--draws", "2", "--json")
    for number, name in enumerate("ab"):
        memory = ("--memory", "64 GB") * number  # where inputs fit, a part within memory is as any other
        answer = fit(images_file, tmp_path / name, *one, "--chain-offset", number, *memory)
        assert answer.code == 0, answer.err
        assert answer.json["chains"] == [number]
    joined = tmp_path / "gate"
    answer = dissensus("join", tmp_path / "b", tmp_path / "a", "-o", joined, "--json")
    assert answer.code == 0, answer.err
    assert (answer.json["chains"], answer.json["draws"], answer.json["parts"]) == (2, 4, 2)
    for name in ("draws.safetensors", "calibration.safetensors"):
        assert (joined / name).read_bytes() == (gate / name).read_bytes()
    ours, theirs = (json.loads((folder / "config.json").read_text())["detector"] for folder in (joined, gate))
    assert ours == theirs
    assert dissensus("score", joined, images_file, "-o", tmp_path / "rows.csv").code == 0


def test_a_part_says_what_comes_next_and_is_no_gate(dissensus, fit, images_file, tmp_path):
    part = tmp_path / "part"
    answer = fit(images_file, part, "--chains", "1", "--draws", "2", "--chain-offset", "3")
    assert "chain 3 of a fit" in answer.out
    assert "dissensus join" in answer.out
    answer = dissensus("score", part, images_file)
    assert answer.code == 2
    assert "no gate yet: join all parts" in answer.err
    answer = dissensus("join", part, part, "-o", tmp_path / "gate")
    assert answer.code == 2
    assert "same chain" in answer.err
    assert not (tmp_path / "gate").exists()


def test_a_fit_within_memory_is_the_same_gate(dissensus, fit, images_file, gate, tmp_path):
    answer = fit(images_file, tmp_path / "gate", "--memory", "64 GB")
    assert answer.code == 0, answer.err
    for name in ("draws.safetensors", "calibration.safetensors"):
        assert (tmp_path / "gate" / name).read_bytes() == (gate / name).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gate"]
