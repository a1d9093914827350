"""What must hold of a recommendation: its score is explained, its order stable, results differ, evidence is real."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from constraints import store
from constraints.evaluate import evaluate
from constraints.evidence import KINDS
from constraints.preferences import Profile, Term
from constraints.profiles import read_profile
from constraints.read import read_file
from constraints.tree import Const
from solver import Preflight
from solver.answers import Recommendation
from solver.errors import InputError
from solver.estimate.roofline import Workload
from solver.own_profile import own_profile
from solver.render import text
from solver.why import gap, shares

PROFILES = ("accuracy", "balanced", "cheap", "latency", "long-context", "throughput")
DENSE, EXPERTS = ("Qwen/Qwen3-8B", "2xH100"), ("Qwen/Qwen3-30B-A3B-FP8", "4xB200")


@cache
def preflight(release: str = "0.5.23") -> Preflight:
    return Preflight(release)


@cache
def answered(
    question: tuple[str, str], profile: str, release: str = "0.5.23", *, alike: bool = False
) -> Recommendation:
    model, gpu = question
    return preflight(release).recommend(model, gpu, profile=profile, top=6, alike=alike)


def test_these_are_the_profiles() -> None:
    assert sorted(preflight().knowledge.profiles) == sorted(PROFILES)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("question", [DENSE, EXPERTS])
def test_shown_terms_make_the_score_and_the_order(question: tuple[str, str], profile: str) -> None:
    found = answered(question, profile)
    assert [one.rank for one in found.solutions] == list(range(1, len(found.solutions) + 1))
    for one in found.solutions:
        assert one.score == sum(one.terms.values()) == sum(share.points for share in shares(one.terms, found.terms))
        for share in shares(one.terms, found.terms):
            assert share.about or share.term in ("closeness", "warnings")
            assert share.most is None or 0 <= share.points <= share.most, share
    for one, other in zip(found.solutions, found.solutions[1:], strict=False):
        between = gap(one.terms, other.terms)
        assert between.points == one.score - other.score >= 0


@pytest.mark.parametrize("profile", PROFILES)
def test_whatever_stands_above_the_own_choice_says_why(profile: str) -> None:
    found = answered(EXPERTS, profile)
    explained = {term.name for term in found.terms if term.about}
    for one, said in zip(found.solutions, paragraphs(found), strict=True):
        assert one.own is not None
        between = gap(one.terms, one.own)
        assert between.points == one.score - sum(one.own.values())
        if between.points > 0:
            reasons = [name for name, _ in between.gains if name in explained]
            assert reasons, one.args
            assert "Above SGLang's own choice for this layout" in said
            assert all(name in said for name in reasons)
        else:
            assert "Above SGLang's own choice" not in said
        own = not between.gains and not between.losses
        assert own == ("This is SGLang's own choice for this layout" in said)


def paragraphs(found: Recommendation) -> list[str]:
    """What a text says of each configuration, on one line each."""
    said = text.recommendation(found).split("\n\n")
    return [" ".join(part.split()) for part in said if re.match(r"\d+\. score ", part)]


def test_something_stands_above_the_own_choice() -> None:
    found = answered(EXPERTS, "throughput")
    assert any(one.own is not None and one.score > sum(one.own.values()) for one in found.solutions)


def test_published_deployments_are_named_with_their_source() -> None:
    found = answered(("deepseek-ai/DeepSeek-V3", "8xB200"), "throughput")
    entries = found.solutions[0].published
    assert entries
    assert all(entry.kind == "published" and entry.about and entry.sources for entry in entries)
    assert entries[0].id in text.recommendation(found, reasons=True)


def test_results_differ_in_what_a_person_chooses_by() -> None:
    facts = preflight().engine.facts(EXPERTS[0], preflight().machine(EXPERTS[1]))

    def ends(found: Recommendation) -> list[str]:
        nodes = preflight().knowledge.apart.values()
        return [repr([evaluate(node, {**facts, **one.effective}) for node in nodes]) for one in found.solutions]

    told = ends(answered(EXPERTS, "balanced"))
    assert len(set(told)) == len(told)
    alike = answered(EXPERTS, "balanced", alike=True)
    assert alike.count == answered(EXPERTS, "balanced").count
    assert alike.solutions[0].args == answered(EXPERTS, "balanced").solutions[0].args
    assert len(set(ends(alike))) < len(alike.solutions)


def test_a_weight_of_zero_removes_a_term() -> None:
    usual = preflight().profile("throughput")
    for name in ("decode bound", "published experts", "memory"):
        zero = usual._replace(terms=tuple(one._replace(weight=0) if one.name == name else one for one in usual.terms))
        without = usual._replace(terms=tuple(one for one in usual.terms if one.name != name))
        first, second = (preflight().recommend(*EXPERTS, profile=profile, top=6) for profile in (zero, without))
        assert [(one.args, one.score) for one in first.solutions] == [(one.args, one.score) for one in second.solutions]
        assert all(not one.terms.get(name) for one in first.solutions)


def test_the_same_question_has_the_same_answer() -> None:
    one, two = (Preflight().recommend(*EXPERTS, profile="latency", top=6) for _ in range(2))
    assert [(a.args, a.score) for a in one.solutions] == [(b.args, b.score) for b in two.solutions]


def test_ties_stand_in_the_order_of_variables_and_their_values() -> None:
    flat = Profile("flat", "", 0, (Term("one", 1, "", Const(1)),), ())
    found = preflight().recommend(*DENSE, profile=flat, top=20)
    assert {one.score for one in found.solutions} == {1}
    assert found.solutions[0].typed == {}


@pytest.mark.parametrize(("model", "gpu"), [("meta-llama/Llama-3.1-70B", "2xH100"), ("openai/gpt-oss-120b", "1xH100")])
def test_more_memory_keeps_what_fits(model: str, gpu: str) -> None:
    from solver.machine import platform_of

    before = 0
    for size in (60, 80, 100, 140, 180):
        machine = platform_of(preflight().knowledge, gpu, memory_gib=size)
        found = preflight().recommend(model, machine, top=1)
        assert found.count or not before
        before = found.count
    assert before


def test_the_workload_moves_the_layout() -> None:
    model, gpu = "deepseek-ai/DeepSeek-V3", "8xB200"
    few, many = (
        preflight().recommend(model, gpu, profile="throughput", top=1, workload=Workload(1024, 1024, requests))
        for requests in (1, 1024)
    )
    assert few.solutions[0].effective["attn_dp_size"] == 1
    assert many.solutions[0].effective["attn_dp_size"] == 8
    assert many.workload == Workload(1024, 1024, 1024)


def test_a_front_holds_the_best_of_each_term() -> None:
    terms = ("decode bound", "kv fidelity")
    found = preflight().recommend(*EXPERTS, front=terms, top=50)
    assert found.front == terms
    vectors = [tuple(one.terms.get(term, 0) for term in terms) for one in found.solutions]
    assert len(set(vectors)) == len(vectors)
    assert not any(
        one != other and all(map(int.__ge__, one, other)) for one in vectors for other in vectors if one != other
    )
    for term in terms:
        alone = preflight().profile("balanced")
        alone = alone._replace(closeness=0, terms=tuple(one for one in alone.terms if one.name == term))
        best = preflight().recommend(*EXPERTS, profile=alone, top=1).solutions[0]
        assert max(one.terms.get(term, 0) for one in found.solutions) == best.score
    with pytest.raises(InputError, match="no term"):
        preflight().recommend(*EXPERTS, front=("speed",))


def test_quantized_siblings_that_need_less_are_offered() -> None:
    found = preflight().recommend("Qwen/Qwen3-235B-A22B", "8xB200", top=1)
    assert [(one.model, one.num_gpus) for one in found.siblings] == [
        ("nvidia/Qwen3-235B-A22B-NVFP4", 1),
        ("Qwen/Qwen3-235B-A22B-FP8", 2),
    ]
    assert not preflight().recommend("Qwen/Qwen3-235B-A22B-FP8", "8xH100", top=1).siblings


def test_a_profile_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "profile: mine\ncloseness: 5\nterms:\n"
        "  - {name: cache, weight: 100, value: \"1 if kv_cache_dtype == 'fp8_e4m3' else 0\"}\n"
        "  - {name: decode, weight: 300, value: roofline.throughput, joint: true}\n"
        "workload: {concurrency: 8}\n",
        encoding="utf-8",
    )
    mine = own_profile(file, preflight().knowledge, preflight().engine.models)
    assert mine.workload == (1024, 1024, 8)
    found = preflight().recommend(*DENSE, profile=mine, top=1)
    assert found.solutions[0].effective["kv_cache_dtype"] == "fp8_e4m3"
    assert found.solutions[0].terms["cache"] == 100


def test_a_joint_term_may_ask_what_was_typed(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "profile: mine\nterms:\n"
        '  - {name: a, weight: 10, joint: true, value: "1 if typed.kv_cache_dtype is unset and tp_size == 1 else 0"}\n',
        encoding="utf-8",
    )
    mine = own_profile(file, preflight().knowledge, preflight().engine.models)
    found = preflight().recommend(DENSE[0], "2xH100", profile=mine, top=1)
    assert found.solutions[0].terms == {"a": 10}
    assert found.solutions[0].effective["tp_size"] == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a", "must be a mapping|has the keys"),
        ("profile: x\nterms: 3", "terms is a list"),
        ("profile: x\nterms: [text]", "a term has a name, a weight and a value"),
        ('profile: x\nterms: [{name: a, weight: 1.5, value: "1"}]', "a whole number up to"),
        ('profile: x\nterms: [{name: a, weight: 1, value: "1 +"}]', "not an expression"),
        ('profile: x\nterms: [{name: a, weight: 1, value: "kv_cache_dtyp"}]', "kv_cache_dtyp is no flag"),
        ('profile: x\nterms: [{name: a, weight: 1, value: "1"}, {name: a, weight: 1, value: "2"}]', "there twice"),
        ("profile: x\ncloseness: high", "closeness is a whole number"),
        ("profile: x\nworkload: {input_len: -1}", "workload has whole numbers"),
        ("profile: x\nterm: []", "unknown key 'term'"),
        ("profile: [", "not YAML"),
    ],
)
def test_a_bad_profile_is_told_line_by_line(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        own_profile(file, preflight().knowledge, preflight().engine.models)
    with pytest.raises(InputError, match="cannot be read"):
        own_profile(tmp_path / "none.yaml", preflight().knowledge, preflight().engine.models)


@pytest.mark.parametrize("release", store.known_releases())
def test_evidence_is_about_values_that_exist(release: str) -> None:
    knowledge = store.knowledge_of(release)
    assert {one.kind for one in knowledge.evidence} <= set(KINDS)
    for one in knowledge.evidence:
        assert all(source.startswith(("https://", "SGLang ")) for source in one.sources), one.id
        for name, values in one.uses.items():
            flag = {"attention.prefill": "attention_backend", "attention.decode": "attention_backend"}.get(name, name)
            field = knowledge.flags.get(flag.removeprefix("typed."))
            if field is not None and field.choices:
                assert set(values) <= set(field.choices), (one.id, name)


def test_what_is_published_counts_where_it_is_published() -> None:
    b200 = answered(("Qwen/Qwen3-235B-A22B-FP8", "8xB200"), "balanced")
    v3 = preflight().recommend("deepseek-ai/DeepSeek-V3", "8xB200", top=1).solutions[0]
    assert v3.effective["attention_backend"] == "trtllm_mla"
    assert v3.terms["published attention"] == 30
    assert all(
        "published attention" not in one.terms or one.terms["published attention"] >= 0 for one in b200.solutions
    )


def test_read_profiles_name_a_file_and_line() -> None:
    file = Path(store.__file__).parent / "profiles" / "balanced.yaml"
    faults: list[object] = []
    profile = read_profile(read_file(file, "balanced.yaml"), "balanced.yaml", {}, faults)  # type: ignore[arg-type]
    assert profile is not None
    assert [term.joint for term in profile.terms if term.name == "decode bound"] == [True]
