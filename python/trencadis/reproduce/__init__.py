"""The published tables beside ours, simulated: one module per paper, its figures in the .toml file of the same name."""

from __future__ import annotations

from types import ModuleType

from . import asym, energy, locality, numa

#: By the name that `trencadis reproduce` takes. Each module is a Gallery (see gallery.py).
GALLERIES: dict[str, ModuleType] = {"asym": asym, "energy": energy, "locality": locality, "numa": numa}
