"""Checkpoints by id: the local cache, revisions, fetching from a hub of our own on this machine; never unasked."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from constraints import store
from solver import Preflight
from solver.cli.app import run
from solver.errors import InputError
from solver.intake.hub import FILES, Hub
from solver.model_input import read_model

ID = "acme/Some-8B"
FIRST, SECOND = "a" * 40, "b" * 40
CONFIG = json.loads(store.catalogue().configs["Qwen3-8B.json"])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of Hugging Face with two revisions of a checkpoint."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    place = tmp_path / "hub" / "models--acme--Some-8B"
    for commit, layers in ((FIRST, 36), (SECOND, 12)):
        folder = place / "snapshots" / commit
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({**CONFIG, "num_hidden_layers": layers}))
    (place / "snapshots" / FIRST / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8"}}')
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(FIRST)
    (place / "refs" / "v2").write_text(SECOND)
    return place


def layers(revision: str | None = None) -> Any:
    return read_model(ID, store.catalogue(), hub=Hub(revision=revision)).config["num_hidden_layers"]


def test_the_cache_is_read_without_being_asked(cache: Path) -> None:
    read = read_model(ID, store.catalogue())
    assert read.name == ID
    assert FIRST in read.where
    assert read.config["hf_quant_config"] == {"quantization": {"quant_algo": "FP8"}}


def test_revisions(cache: Path) -> None:
    assert [layers(), layers("main"), layers("v2"), layers(SECOND)] == [36, 36, 12, 12]
    for unknown in ("v3", "c" * 40):
        with pytest.raises(InputError, match="not in the catalogue, nor in the cache"):
            layers(unknown)
    for wrong in ("../../etc", "a b", "x/../y", ""):
        if wrong:
            with pytest.raises(InputError, match="is no revision"):
                layers(wrong)


def test_a_revision_is_not_the_catalogue_s(cache: Path) -> None:
    with pytest.raises(InputError, match="revision v9 of Qwen/Qwen3-8B is not in the cache"):
        read_model("Qwen/Qwen3-8B", store.catalogue(), hub=Hub(revision="v9"))


@pytest.mark.parametrize("broken", ["refs", "snapshot", "binary"])
def test_a_broken_cache_is_as_good_as_none(cache: Path, broken: str) -> None:
    if broken == "refs":
        (cache / "refs" / "main").write_bytes(b"../../../etc")
    elif broken == "binary":
        (cache / "refs" / "main").write_bytes(b"\xff\x00")
    else:
        (cache / "snapshots" / FIRST / "config.json").unlink()
    with pytest.raises(InputError, match="not in the catalogue"):
        layers()


@pytest.mark.parametrize("reference", ["../etc/passwd", "a/..", "a/b/c", "acme", "acme/", "/x/y", "a\x00/b", "-a/b"])
def test_what_is_no_id_is_not_looked_for(reference: str, cache: Path) -> None:
    assert Hub(fetched=True).find(reference) is None


def test_commands_take_the_cache(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "H100", "--format", "json", "--", "--model-path", ID]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == ID
    assert run(["recommend", ID, "H100", "--top", "1", "--revision", "v2"]) == 0
    assert f"--model-path {ID}" in capsys.readouterr().out


def test_the_revision_that_is_typed_is_looked_into(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "H100", "--facts", "--format", "json", "--", "--model-path", ID, "--revision"]
    for revision, number in (("main", 36), ("v2", 12), ("v3", 36)):
        assert run([*words, revision]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["facts"]["model.num_hidden_layers"] == number
        assert any("revision v3 is not here" in note for note in answer["inferred"]) is (revision == "v3")


def test_a_draft_model_that_is_not_known_is_told(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "H100", "--no-why", "--", "--model-path", "Qwen/Qwen3-8B", "--speculative-algorithm", "EAGLE3"]
    for draft, told in (("acme/None", True), (ID, False)):
        run([*words, "--speculative-draft-model-path", draft])
        assert ("the draft model is not looked into" in capsys.readouterr().out.replace("\n", " ")) is told


def test_the_network_must_be_asked_for(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("solver.intake.hub._fetched", refuse)
    with pytest.raises(InputError, match="not in the catalogue"):
        Preflight().recommend("acme/Other", "H100")


@pytest.mark.parametrize("name", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_is_honoured(cache: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(InputError, match="forbids to fetch"):
        Hub(fetched=True).find("acme/Other")
    assert Hub(fetched=True).find(ID) == cache / "snapshots" / FIRST


def test_a_package_that_is_missing_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match="huggingface_hub, which is not installed") as caught:
        Hub(fetched=True).find("acme/Other")
    assert "sglang-preflight[hub]" in (caught.value.hint or "")


class _Hub(BaseHTTPRequestHandler):
    """As much of the Hub's interface as fetching small files takes."""

    asked: list[str]
    # One of the small files is missing, and weights are there.
    files = dict.fromkeys(FILES[:2], b"{}") | {FILES[0]: json.dumps(CONFIG).encode(), "model.safetensors": b"0" * 99}

    def do_HEAD(self) -> None:
        self.do_GET(body=False)

    def do_GET(self, body: bool = True) -> None:
        path = self.path.partition("?")[0]
        self.asked.append(path)
        name = path.rpartition("/")[2]
        if path.startswith("/acme/Some-8B/resolve/") and name in self.files:
            self._send(200, self.files[name], body, {"X-Repo-Commit": SECOND, "ETag": f'"{name}"'})
        elif path.startswith("/acme/Some-8B/resolve/"):
            self._send(404, b"", body, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": SECOND})
        elif "Gated" in path:
            self._send(401, b"", body, {"X-Error-Code": "GatedRepo"})
        else:
            self._send(404, b"", body, {"X-Error-Code": "RepoNotFound"})

    def _send(self, code: int, data: bytes, body: bool, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def served() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (_Hub,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def _preflight(endpoint: str, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"HF_ENDPOINT": endpoint, "HF_HOME": str(place), "PATH": "/usr/bin:/bin", "HF_HUB_DISABLE_XET": "1"}
    environment |= {
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "XDG_CACHE_HOME": str(place / "own"),
        "HOME": str(place),
    }
    code = [sys.executable, "-m", "solver", *words]
    return subprocess.run(code, capture_output=True, text=True, env=environment, timeout=120, check=False)


def test_only_small_files_are_fetched_and_once(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    question = ("check", "H100", "--model", ID, "--fetch", "--", "--tp", "1")
    with served() as (endpoint, asked):
        first = _preflight(endpoint, tmp_path, *question)
        assert first.returncode == 0, first.stderr
        assert "Traceback" not in first.stderr
        fetched = {path.rpartition("/")[2] for path in asked if "/resolve/" in path}
        assert fetched == set(FILES)
        asked.clear()
        assert _preflight(endpoint, tmp_path, *question).returncode == 0
        assert asked == []
    found = sorted(path.name for path in (tmp_path / "hub").rglob("snapshots/*/*"))
    assert found == sorted(set(FILES) & set(_Hub.files))


@pytest.mark.parametrize(("model", "said"), [("acme/Nothing", "does not exist"), ("acme/Gated", "private or gated")])
def test_what_cannot_be_fetched_is_told(model: str, said: str, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    with served() as (endpoint, _):
        answer = _preflight(endpoint, tmp_path, "check", "H100", "--model", model, "--fetch", "--", "--tp", "1")
    assert answer.returncode == 2
    assert said in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_hub_that_is_not_reached_is_told(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    answer = _preflight("http://127.0.0.1:9", tmp_path, "recommend", "acme/Other", "H100", "--fetch")
    assert answer.returncode == 2
    assert "cannot be fetched" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_line_that_breaks_halfway_is_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a checkpoint would pass for one without a quantization config from then on."""
    hub = pytest.importorskip("huggingface_hub")
    from huggingface_hub.errors import LocalEntryNotFoundError

    def download(_: str, name: str, *, revision: str) -> str:
        if name != FILES[0]:
            raise LocalEntryNotFoundError("the line broke")
        return str(cache / "snapshots" / FIRST / name)

    monkeypatch.setattr(hub, "hf_hub_download", download)
    with pytest.raises(InputError, match="the hub cannot be reached: the line broke"):
        read_model("acme/Other-8B", store.catalogue(), hub=Hub(True))


@pytest.mark.parametrize(
    ("fault", "said"), [(OSError("No proxy.\nTry again."), "no proxy"), (ValueError(" "), "nobody")]
)
def test_why_it_is_not_fetched_is_told(
    fault: Exception, said: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def download(*_: str, **__: str) -> str:
        raise fault

    monkeypatch.setattr(hub, "hf_hub_download", download)
    with pytest.raises(InputError, match=f"cannot be fetched: {said}"):
        Hub(True).find("acme/Other-8B")
