"""Write what SGLang reads from the files of `gguf_files` as test data: run with the folder of the oracle in $ORACLE.

python tests/record_gguf.py PYTHON     the interpreter that has SGLang
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.gguf_files import CASES, gguf_case

HERE = Path(__file__).parent
PROBE = HERE.parent / "constraints" / "models" / "generate" / "probe_model_config.py"
RELEASES = ("0.5.23", "0.5.18")
# A tensor of the case has so many bytes.
WEIGHTS = 2 * 2048 * 1000 * 4


def main() -> None:
    """Probe every case under each release."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name in CASES:
            for tied in (False, True):
                files.append(Path(folder) / f"{name}{'-tied' if tied else ''}.gguf")
                with files[-1].open("wb") as file:
                    size = file.write(gguf_case(name, tied=tied))
                    file.truncate(size + WEIGHTS)
        for release in RELEASES:
            out = Path(folder) / "out.json"
            words = [sys.argv[1], str(PROBE), release, str(out), *map(str, files)]
            subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": "", "OUT": folder})
            for name, facts in json.loads(out.read_text(encoding="utf-8")).items():
                kept = {"error": facts["error"].partition(":")[0]} if "error" in facts else facts
                found.setdefault(release, {})[name.removesuffix(".gguf")] = {
                    fact: value for fact, value in kept.items() if value not in (None, False, [])
                }
    rows = [
        f"  {json.dumps(f'{release} {name}')}: {json.dumps(facts, sort_keys=True)}"
        for release, cases in found.items()
        for name, facts in cases.items()
    ]
    (HERE / "data" / "gguf_facts.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
