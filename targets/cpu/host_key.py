"""What code depends on of this machine."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict

from dlc.targets.machine import host_facts


@functools.lru_cache(maxsize=1)
def host_key() -> str:
    """This machine as text, with LLVM's name of its processor."""
    from dlc.targets.cpu.link import host_processor

    facts = asdict(host_facts())
    return json.dumps(facts | {"features": sorted(facts["features"]), "processor": host_processor()}, sort_keys=True)
