"""Saved detectors on the Hugging Face Hub: repositories that hold the same files as a saved folder."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from dissensus.errors import ArtifactError, SettingsError, brief
from dissensus.persistence import CARD, CONFIG, OTHERS

__all__ = ["fetched", "upload"]

# Not huggingface_hub's ModelHubMixin: as a base class of the detectors it would be needed to import them, and
# it writes a config.json of its own over the gate's.
REPOSITORY = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)


def fetched(source: str | Path, *, revision: str | None = None) -> Path:
    """Return a local folder. If ``source`` is no folder, treat it as a Hub repository id and download it."""
    path = Path(source)
    if path.is_dir() or isinstance(source, Path) or not REPOSITORY.fullmatch(source):
        return path
    hub = _hub()
    try:
        # Only a detector's own files: a repository may hold anything beside them.
        folder = hub.snapshot_download(source, revision=revision, allow_patterns=[CONFIG, CARD, *OTHERS])
    except Exception as error:  # of the network, of the hub, of its cache: all mean that there is no gate
        raise ArtifactError(
            f"{source} is no folder here and cannot be fetched from the hub ({brief(error)}): check its "
            "name and your connection"
        ) from error
    return Path(folder)


def upload(
    save: Callable[[Path], None], repo_id: str, *, private: bool | None = None, message: str | None = None
) -> str:
    """Makes the repository if there is none, uploads what ``save`` writes, returns the commit's address."""
    hub = _hub()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "gate")
        save(folder)
        try:
            hub.create_repo(repo_id, private=private, exist_ok=True)
            commit = hub.upload_folder(
                repo_id=repo_id, folder_path=folder, commit_message=message or "Upload a dissensus gate"
            )
        except Exception as error:
            raise ArtifactError(
                f"{repo_id} cannot be uploaded ({brief(error)}): check its name and your login"
            ) from error
    return str(getattr(commit, "commit_url", commit))


def _hub() -> ModuleType:
    try:
        import huggingface_hub
    except ImportError as error:
        raise SettingsError(
            "the Hugging Face Hub needs an extra package: pip install 'dissensus[hub]'"
        ) from error
    module: ModuleType = huggingface_hub
    return module
