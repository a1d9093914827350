"""Variables from elsewhere: a ConfigMap of the same file is read, of what is not there the answer says so."""

from __future__ import annotations

import pytest

from constraints import store
from solver.file_check import Asked, FileChecker
from solver.intake.files import read_launches
from solver.render.problems import problems

FLAGS = store.knowledge_of(store.known_releases()[-1]).flags
MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: llm}
data:
  TP: "2"
  SGLANG_USE_AITER: "1"
---
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: c
    image: lmsysorg/sglang:v0.5.23
    envFrom:
    - configMapRef: {name: llm}
    env:
    - {name: B, value: "$(TP)x"}
    - {name: ONE, valueFrom: {configMapKeyRef: {name: llm, key: TP}}}
    command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B, --tp, $(TP)]
"""
LIST = "kind: List\napiVersion: v1\nitems:\n- kind: ConfigMap\n  metadata: {name: llm}\n  data: {TP: '4'}\n---\n"


def test_a_config_map_of_the_file_is_read() -> None:
    (launch,) = read_launches(MAP + POD, "pod.yaml", FLAGS)
    assert dict(launch.env) == {"TP": "2", "SGLANG_USE_AITER": "1", "B": "2x", "ONE": "2"}
    assert [word.text for word in launch.arguments][-1] == "2"
    assert launch.where["SGLANG_USE_AITER"] == (16, 28)
    assert not launch.unseen
    assert [word.text for word in read_launches(LIST + POD, "pod.yaml", FLAGS)[0].arguments][-1] == "4"


def test_a_prefix_stands_before_the_names() -> None:
    (launch,) = read_launches(
        MAP + POD.replace("{name: llm}\n    env", "{name: llm}\n      prefix: X_\n    env"), "p.yaml", FLAGS
    )
    assert launch.env["X_TP"] == "2"
    assert [word.text for word in launch.arguments][-1] == "$(TP)"


UNIT = "[Service]\nEnvironmentFile=-/etc/llm.conf\nExecStart=/usr/bin/sglang serve --model-path Qwen/Qwen3-8B\n"
COMPOSE = "services:\n  a:\n    image: x\n    env_file: {}\n    command: sglang serve --model-path Qwen/Qwen3-8B\n"
ELSEWHERE = [
    (POD, "pod.yaml", "ConfigMap llm", (9, 28)),
    (POD.replace("configMapRef", "secretRef"), "pod.yaml", "Secret llm", (9, 25)),
    (UNIT, "a.service", "the file /etc/llm.conf", (2, 17)),
    (COMPOSE.format(".env"), "compose.yaml", "the file .env", (4, 15)),
    (COMPOSE.format("[{path: a.env, required: false}]"), "compose.yaml", "the file a.env", (4, 23)),
    ("docker run --env-file a.env x sglang serve --model-path Qwen/Qwen3-8B", "a.sh", "the file a.env", (1, 12)),
    ("docker run --env-file=a.env x sglang serve --model-path Qwen/Qwen3-8B", "a.sh", "the file a.env", (1, 12)),
]


@pytest.mark.parametrize(("text", "file", "named", "place"), ELSEWHERE)
def test_variables_that_are_not_in_the_file_are_said_to_be_unseen(
    text: str, file: str, named: str, place: tuple[int, int]
) -> None:
    report = FileChecker(Asked("4xMI300X", why=False)).check(text, file)
    notes = [one for one in problems([report]) if one.rule == "value-unknown" and "not in this file" in one.message]
    (note,) = notes
    assert named in note.message
    assert (note.spots[0].line, note.spots[0].column) == place


RUNTIME = """apiVersion: x.io/v1
kind: ServingRuntime
spec:
  engine:
    runner:
      name: c
      image: lmsysorg/sglang:v0.5.18
      command: [python3, -m, sglang.launch_server]
      args: [--model-path, Qwen/Qwen3-8B, --tp, "4"]
      resources: {limits: {nvidia.com/gpu: 2}}
"""


def test_a_container_by_any_name_is_one() -> None:
    (launch,) = read_launches(RUNTIME, "rt.yaml", FLAGS)
    assert (launch.num_gpus, launch.release) == (2, "0.5.18")


PAGE = """# Guide

```bash
curl -d '{"it's": 1}'
```
```console
$ export TP=2
```
````python
```bash
python -m sglang.launch_server --model-path no
```
````
Then, with what was set above:
~~~bash
python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp $TP
~~~
```yaml
kind: Pod
apiVersion: v1
spec: {containers: [{image: sglang, command: [sglang, serve, --model-path, a]}]}
```
"""


def test_each_block_of_a_page_is_read_by_itself() -> None:
    first, second = read_launches(PAGE, "page.md", FLAGS)
    assert [word.text for word in first.arguments] == ["--model-path", "Qwen/Qwen3-8B", "--tp", "2"]
    assert (first.at.line, second.at.line, second.kind) == (16, 21, "kubernetes")
