"""What inputs tell without a model, by torch: for a GPU, and for files that need no Python."""

from dissensus.inputs.in_torch.picturing import Picturing
from dissensus.inputs.in_torch.surrounding import Surrounding
from dissensus.inputs.in_torch.tiled import measured_in_tiles

__all__ = ["Picturing", "Surrounding", "measured_in_tiles"]
