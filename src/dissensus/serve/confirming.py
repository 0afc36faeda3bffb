"""What a person says of inputs: told to a copy of their gate, which is saved over it and then served."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dissensus.detector.confirming import Confirmation
from dissensus.errors import ArtifactError, DataError, InUseError, OutputError, SettingsError, brief
from dissensus.inputs import Prepared
from dissensus.serve.gate_folder import GateFolder
from dissensus.serve.gates import Gates
from dissensus.serve.logs import log
from dissensus.serve.refusals import Overloaded, Refusal
from dissensus.serve.served import Served

if TYPE_CHECKING:
    from dissensus.serve.workers import Workers

__all__ = ["Confirming"]


class Confirming:
    """One request at a time tells a gate, and is finished even if nobody waits for it any more."""

    def __init__(self, folder: GateFolder, gates: Gates) -> None:
        self._folder, self._gates = folder, gates
        self._telling: dict[str, asyncio.Task[tuple[Confirmation, Served]]] = {}

    async def tell(
        self,
        workers: Workers,
        served: Served,
        inputs: Prepared,
        *,
        normal: bool,
        audited: float,
        client: str | None,
    ) -> tuple[Confirmation, Served]:
        """What became of the inputs, and the gate that answers now; a refusal where it cannot be saved."""
        name = served.name
        if name in self._telling:
            raise Overloaded(f"gate {name} is saving what was confirmed a moment ago", 1)
        task = asyncio.create_task(self._tell(workers, served, inputs, normal, audited, client))
        self._telling[name] = task
        task.add_done_callback(lambda _: self._ended(name))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Finishes what was begun."""
        await asyncio.gather(*self._telling.values(), return_exceptions=True)

    async def _tell(
        self,
        workers: Workers,
        served: Served,
        inputs: Prepared,
        normal: bool,
        audited: float,
        client: str | None,
    ) -> tuple[Confirmation, Served]:
        name = served.name
        try:
            await workers.take()
            done = await workers.score(
                lambda: self._folder.confirm(served.loaded, inputs, normal=normal, audited=audited)
            )
        except InUseError as error:  # whose sentence names processes of this machine
            raise Overloaded(f"another process is writing to gate {name}", 1) from error
        except (DataError, SettingsError) as error:
            raise Refusal(422, brief(error)) from error
        except OutputError as error:  # whose sentence names places of this machine
            reason = getattr(error.__cause__, "strerror", None) or type(error.__cause__).__name__
            message = f"gate {name} was not changed: the service cannot write to its place ({reason})"
            raise Refusal(409, message) from error
        except ArtifactError as error:
            reason = self._folder.words_of(error, name)
            raise Refusal(409, f"gate {name} was not changed, for it cannot be saved: {reason}") from error
        await self._gates.load(name)
        if done is None:
            raise Overloaded(f"gate {name} has just been replaced", 1)
        log("inputs confirmed", gate=name, client=client, normal=normal, **done._asdict())
        return done, self._gates.find(name)

    def _ended(self, name: str) -> None:
        task = self._telling.pop(name)
        if not task.cancelled():
            task.exception()  # seen: nobody may be waiting any more
