"""How a fitted detector is kept: saved to a folder, loaded from one, shared on a hub."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, cast

from sklearn.utils.validation import check_is_fitted

from dissensus.detector.calibrating import warn_if_mute
from dissensus.detector.hub import fetched, upload
from dissensus.detector.saving import kind_of, restored, to_artifact
from dissensus.detector.settings import find_device
from dissensus.detector.statistic import OwnScores
from dissensus.errors import ArtifactError, DissensusError, brief
from dissensus.inputs import OwnEmbedders
from dissensus.models import MODELS, GenerativeModel, OwnModels, OwnObservations, model_from_config
from dissensus.persistence import read_artifact, write_artifact

__all__ = ["Keeping"]


class Keeping:
    """Saving and loading; a file is never asked what to import."""

    def save(self, folder: str | Path) -> None:
        """Writes the fitted detector to a folder of JSON and safetensors; an older one there is replaced."""
        check_is_fitted(self)
        write_artifact(folder, to_artifact(cast("Any", self)))

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: str = "auto",
        model: OwnModels = None,
        observation: OwnObservations = None,
        statistic: OwnScores = None,
        embed: OwnEmbedders = None,
    ) -> Self:
        """Reads a detector that :meth:`save` wrote; code of your own must be passed again.

        That is a ``model``, a VAE's ``observation`` model and a ``statistic``, each as an object or as its
        class, and what ``embed`` was; several may be passed, of which the detector takes its own.
        """
        own = {"model": model, "observation": observation, "networks": None, "embed": embed}
        return cls._loaded(folder, device=device, statistic=statistic, own=own)

    def save_pretrained(self, folder: str | Path) -> None:
        """The same as :meth:`save`, under the name that model hubs use."""
        self.save(folder)

    @classmethod
    def from_pretrained(
        cls, source: str | Path, *, revision: str | None = None, device: str = "auto", **own: Any
    ) -> Self:
        """Reads a folder, or else the repository of that id on the Hugging Face Hub (extra ``hub``).

        Code of your own is passed as to :meth:`load`.
        """
        return cls.load(fetched(source, revision=revision), device=device, **own)

    def push_to_hub(self, repo_id: str, *, private: bool | None = None, message: str | None = None) -> str:
        """Uploads the detector to the Hugging Face Hub (extra ``hub``) and returns the commit's address."""
        check_is_fitted(self)
        return upload(self.save, repo_id, private=private, message=message)

    @classmethod
    def _loaded(
        cls, folder: str | Path, *, device: str, statistic: OwnScores, own: Mapping[str, Any]
    ) -> Self:
        find_device(device)
        artifact = read_artifact(folder)
        try:
            kind = cast("Any", kind_of(artifact.config, cast("Any", cls)))
            gate = restored(kind, artifact, device=device, statistic=statistic, own=own)
        except DissensusError as error:
            raise ArtifactError(f"{folder} cannot be loaded: {brief(error)}") from error
        except Exception as error:  # whoever wrote the files may have written anything
            raise ArtifactError(
                f"{folder} is no whole detector ({brief(error)}): save the gate again"
            ) from error
        warn_if_mute(gate, stacklevel=4)
        return cast("Self", gate)

    @classmethod
    def _saved_model(cls, config: Mapping[str, Any], own: Mapping[str, Any]) -> GenerativeModel:
        """The model that a file describes, without weights."""
        return model_from_config(config, own["model"], observation=own["observation"])

    @classmethod
    def _own_arguments(cls, model: GenerativeModel, own: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003
        """Arguments of the constructor that the file does not hold as such."""
        known = next((name for name, kind in MODELS.items() if kind is type(model)), None)
        return {"model": known or model}
