"""Arguments and `user_config` of the deployment for Ray Serve; Ray is not needed here."""

from __future__ import annotations

import pytest

from dlc.errors import InvalidInputError
from dlc.serving.options import BatchOptions, ServeOptions
from dlc.serving.ray_options import read_config


def test_options_have_rays_names() -> None:
    config = {"models": "m.dlce", "max_batch_size": 8, "batch_wait_timeout_s": 0.5, "timeout_s": 3, "poll_s": 0, "max_queue": 9}
    assert read_config(config, lambda: 2) == (
        ["m.dlce"],
        ServeOptions(batching=BatchOptions(8, 0.5, 9), timeout=3, poll=0, num_threads=2),
    )
    sources, options = read_config({"models": ("a=m.dlce", "b"), "num_threads": 4, "verify_key": None}, lambda: 2)
    assert (sources, options) == (["a=m.dlce", "b"], ServeOptions(num_threads=4))


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, r"models must be engine files, NAME=FILE or folders, one or a list, not \[\]"),
        ({"models": 3}, "models must be engine files, NAME=FILE or folders, one or a list, not 3"),
        ({"models": [3]}, "models must be"),
        ({"max_batch": 3}, "unknown option 'max_batch'; there are models, max_batch_size, batch_wait_timeout_s"),
        ({"max_batch_size": 0}, "max_batch_size must be an integer of 1 or more, not 0"),
        ({"max_batch_size": True}, "max_batch_size must be an integer of 1 or more, not True"),
        ({"max_batch_size": 2.0}, "max_batch_size must be an integer of 1 or more, not 2.0"),
        ({"batch_wait_timeout_s": float("nan")}, "batch_wait_timeout_s must be a number of seconds, 0 or more, not nan"),
        ({"batch_wait_timeout_s": float("inf")}, "batch_wait_timeout_s must be a number of seconds, 0 or more, not inf"),
        ({"timeout_s": 0}, "timeout_s must be a number of seconds above 0, not 0"),
        ({"verify_key": 3}, "verify_key must be the path of a public key, not 3"),
        ({"in_memory": "yes"}, "in_memory must be true or false, not 'yes'"),
    ],
)
def test_wrong_options_are_named(config: dict[str, object], reason: str) -> None:
    given = config if "models" in config or not config else {"models": ["m.dlce"], **config}
    with pytest.raises(InvalidInputError, match=reason):
        read_config(given, lambda: 1)
