"""A release's name -> that SGLang imported under the oracle's fakes."""

# mypy: ignore-errors
# ruff: noqa
# Runs inside SGLang's own environment, under the oracle's fakes ($ORACLE, the folder of hardware.py and stubs.py); outputs go to
# $OUT (default: models-generate in the current folder). Order: probe_classes.py and probe_sets.py for each release, write_sets.py, write_classes.py.
import os, sys, logging, warnings
from pathlib import Path

HOME = Path.home() / ".cache/sglang-oracle"


def setup(version, gpu="H100"):
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    sys.path[:0] = [
        os.environ["ORACLE"],
        str(HOME / f"sgl-{version}"),
        str(HOME / "site" / version),
    ]
    import hardware, stubs

    profile = hardware.PROFILES[gpu]
    stubs.install(profile.vendor, stubs.dist_versions(str(HOME / f"sgl-{version}")))
    hardware.install(profile, cuda_version="13.0")
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    import sglang.srt.server_args
    import sglang.srt.utils.common as common

    hardware.patch_probes(common)
    return hardware
