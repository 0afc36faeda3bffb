import hashlib
import io
import sys
import tarfile

import pytest

from dissensus.errors import DataError
from dissensus.inputs import download_file, download_members

CONTENT = bytes(range(256)) * 3000


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def tar(members):
    """A .tar.gz of regular files, and of symbolic links where the content is a string."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def test_a_good_file_arrives_whole_with_progress(publisher, tmp_path):
    publisher.files["set.gz"] = CONTENT
    steps = []
    target = download_file(
        publisher.url + "set.gz",
        tmp_path / "new" / "raw",
        sha256=sha256(CONTENT),
        progress=lambda *step: steps.append(step),
    )
    assert target == tmp_path / "new" / "raw" / "set.gz"
    assert target.read_bytes() == CONTENT
    assert [path.name for path in target.parent.iterdir()] == ["set.gz"]
    counts = [received for _, received, _ in steps]
    assert counts == sorted(counts)
    assert steps[-1] == ("set.gz", len(CONTENT), len(CONTENT))


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        ("wrong", "does not have the published SHA-256 .* thrown away"),
        ("cut", "broke off .*384000 bytes read, 384000 more"),
        ("404", "404"),
    ],
)
def test_what_fails_leaves_the_folder_as_it_was(publisher, tmp_path, case, complaint):
    (tmp_path / "set.gz").write_bytes(b"what was there before")
    if case != "404":
        publisher.files["set.gz"] = CONTENT
    if case == "cut":
        publisher.broken.add("set.gz")
    expected = sha256(b"other") if case == "wrong" else sha256(CONTENT)
    with pytest.raises(DataError, match=complaint) as caught:
        download_file(publisher.url + "set.gz", tmp_path, sha256=expected)
    assert publisher.url + "set.gz" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["set.gz"]
    assert (tmp_path / "set.gz").read_bytes() == b"what was there before"


def test_an_interruption_leaves_nothing(publisher, tmp_path):
    publisher.files["set.gz"] = CONTENT

    def interrupt(*step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download_file(publisher.url + "set.gz", tmp_path, sha256=sha256(CONTENT), progress=interrupt)
    assert not list(tmp_path.iterdir())


def test_nobody_there_and_no_place_to_write(publisher, tmp_path):
    with pytest.raises(DataError, match="cannot be downloaded"):
        download_file("http://127.0.0.1:9/set.gz", tmp_path, sha256="")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match="cannot be written to"):
        download_file(publisher.url + "set.gz", tmp_path / "file" / "raw", sha256="")


def test_without_pooch_the_extra_is_named(publisher, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataError, match=r"downloading needs pooch: pip install 'dissensus\[datasets\]'"):
        download_file(publisher.url + "set.gz", tmp_path, sha256="")
    assert not list(tmp_path.iterdir())


def test_nothing_is_said_but_by_who_shows_progress(publisher, tmp_path, capfd):
    publisher.files["set.gz"] = CONTENT
    download_file(publisher.url + "set.gz", tmp_path, sha256=sha256(CONTENT))
    assert capfd.readouterr() == ("", "")


def test_only_the_named_members_are_unpacked(publisher, tmp_path):
    packed = tar(
        [
            ("../escaped.bin", b"evil"),
            ("/absolute.bin", b"evil"),
            ("set/one.bin", b"1"),
            ("set/../../two.bin", b"evil"),
            ("set/two.bin", b"2"),
            ("set/readme.html", b"no"),
        ]
    )
    publisher.files["set.tar.gz"] = packed
    folder = tmp_path / "cache" / "set"
    files = download_members(
        publisher.url + "set.tar.gz", folder, ["set/one.bin", "set/two.bin"], sha256=sha256(packed)
    )
    assert [file.read_bytes() for file in files] == [b"1", b"2"]
    assert sorted(
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()
    ) == [
        "cache/set/one.bin",
        "cache/set/two.bin",
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (tar([("set/one.bin", b"1")]), "lacks the expected member.*two"),
        (tar([("set/one.bin", b"1"), ("set/two.bin", "one.bin")]), "not as a regular file"),
        (tar([("set/one.bin", b"1"), ("set/two.bin/", b"")]), "two"),
        (b"not an archive", "cannot be unpacked"),
        (tar([("set/one.bin", CONTENT), ("set/two.bin", CONTENT)])[:800], "cannot be unpacked"),
    ],
)
def test_a_strange_archive_leaves_nothing(publisher, tmp_path, content, complaint):
    publisher.files["set.tar.gz"] = content
    with pytest.raises(DataError, match=complaint):
        download_members(
            publisher.url + "set.tar.gz", tmp_path, ["set/one.bin", "set/two.bin"], sha256=sha256(content)
        )
    assert not list(tmp_path.iterdir())
