"""`dlc serve`: engine files behind the Open Inference Protocol."""

from __future__ import annotations

from dlc.serving.command import command

__all__ = ["command"]
