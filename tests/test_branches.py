"""Scripts whose branches decide: what is set in a branch that may not be taken is one of several values, and said."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from constraints import store
from solver.errors import InputError
from solver.file_check import Asked, FileChecker
from solver.intake.files import read_launches
from solver.intake.tokens import Word
from solver.mend import applied, edits, mendable
from solver.render.problems import problems

FLAGS = store.knowledge_of(store.known_releases()[-1]).flags
LAUNCH = "python -m sglang.launch_server --model-path m"
Shape = str | list[list[str]]


def shape(word: Word) -> Shape:
    """A word, or what it may stand for; unknown words end in a question mark."""
    if word.among:
        return [[one.text for one in words] for words in word.among]
    return word.text + "?" * word.open


def shapes(text: str, file: str = "a.sh") -> list[Shape]:
    """The words behind the model of the only launch."""
    (launch,) = read_launches(text, file, FLAGS)
    return [shape(word) for word in launch.arguments[2:]]


CASES: list[tuple[str, list[Shape]]] = [
    (f"TP=4\nif [ $A ]; then TP=8; fi\n{LAUNCH} --tp $TP", ["--tp", [["4"], ["8"]]]),
    (f"if [ $A ]\nthen TP=8\nelse\nTP=4; fi\n{LAUNCH} --tp $TP", ["--tp", [["8"], ["4"]]]),
    (f"if [ $A ]; then TP=8; else TP=8; fi\n{LAUNCH} --tp $TP", ["--tp", "8"]),
    (f"if [ $A ]; then TP=8; fi\n{LAUNCH} --tp $TP", ["--tp", [["8"]]]),  # or what it had before
    (f"if a; then A=1; elif b; then A=2; else exit 1; fi\n{LAUNCH} --tp $A", ["--tp", [["1"], ["2"]]]),
    (f"A=1\nif a; then if b; then A=2; fi; fi\n{LAUNCH} --tp=$A", [[["--tp=1"], ["--tp=2"]]]),
    (f"case $1 in\na|b) TP=1 ;;\nc) TP=2;;\n*) echo no; exit 1;;\nesac\n{LAUNCH} --tp $TP", ["--tp", [["1"], ["2"]]]),
    (f"case $1 in a) TP=1 ;; (*) TP=2 ;; esac; {LAUNCH} --tp $TP", ["--tp", [["1"], ["2"]]]),
    (f"while x; do case $1 in --tp) TP=$2; shift;; esac; done\n{LAUNCH} --tp ${{TP:-4}}", ["--tp", "${TP:-4}?"]),
    (f"TP=4\nwhile x; do case $1 in --tp) TP=$2; shift;; esac; done\n{LAUNCH} --tp $TP", ["--tp", [["4"]]]),
    (f"for TP in 1 2; do\n{LAUNCH} --tp $TP\ndone", ["--tp", [["1"], ["2"]]]),
    (f"for TP in 2; do\n{LAUNCH} --tp $TP\ndone", ["--tp", "2"]),
    (f"for TP in $@; do\n{LAUNCH} --tp $TP\ndone", ["--tp", "$TP?"]),
    (f"[ -z $TP ] && TP=4\n{LAUNCH} --tp $TP", ["--tp", [["4"]]]),
    (f"TP=2\n[ -z $TP ] || TP=4\n{LAUNCH} --tp $TP", ["--tp", [["2"], ["4"]]]),
    (f"TP=2\n[ a ] && TP=4 || TP=8\n{LAUNCH} --tp $TP", ["--tp", [["4"], ["8"]]]),
    (f"TP=2\nnvidia-smi | grep -q B200 && TP=8\n{LAUNCH} --tp $TP", ["--tp", [["2"], ["8"]]]),
    (f"cd x && export TP=2\n{LAUNCH} --tp $TP", ["--tp", "2"]),
    (f"TP=4\n[ -f x ] || {{ echo; TP=8; exit 1; }}\n{LAUNCH} --tp $TP", ["--tp", "4"]),
    (f"TP=4\n(cd x; TP=8)\n{LAUNCH} --tp $TP", ["--tp", "4"]),
    (f"f() {{\nlocal TP=8\n{LAUNCH} --tp $TP\n}}\nf", ["--tp", "8"]),
    (f"function f {{\nTP=8\n}}\nTP=4\nf\n{LAUNCH} --tp $TP", ["--tp", "4"]),
    (f"if true; then\n\t{LAUNCH} --tp 2\nfi", ["--tp", "2"]),
    # whole words
    (f'A=\nif x; then A="$A --tp 8"; fi\n{LAUNCH} $A', [[[], ["--tp", "8"]]]),
    (f'A="--a 1"\nif x; then A+=" --b"; fi\nif y; then A="$A --c 2"; fi\n{LAUNCH} $A --z',
     ["--a", "1", [[], ["--b"]], [[], ["--c", "2"]], "--z"]),
    (f'A=(--a)\n[ x ] && A+=(--b)\nif x\nthen A+=(--c)\nelse\nA+=(--d)\nfi\n{LAUNCH} "${{A[@]}}"',
     ["--a", [[], ["--b"]], [["--c"], ["--d"]]]),
    (f'if x; then A="--tp 8"; fi\n{LAUNCH} $A', [[[], ["--tp", "8"]]]),
    # values
    (f"export A=1\nA=$A:2\n{LAUNCH} --x $A", ["--x", "1:2"]),
    (f": ${{TP:=4}}\n{LAUNCH} --tp $TP", ["--tp", "4"]),
    (f"{LAUNCH} --x ${{A:-${{B:-y}}}} --y ${{A:?say so}} ${{R:+--r $R}}",
     ["--x", "y", "--y", "${A:?say so}?", "${R:+--r $R}?"]),
    (f"R=1\n{LAUNCH} ${{R:+--r $R}} ${{Q+--q}}", ["--r", "1", "${Q+--q}?"]),
    (f"J='{{\"a\": 1}}'\n{LAUNCH} --json \"$J\"", ["--json", '{"a": 1}']),
    (f"TP=8 {LAUNCH} --tp $TP", ["--tp", "$TP?"]),  # the shell puts in what it had before
    (f"T=$(nproc --all)\n{LAUNCH} --tp $T", ["--tp", "$T?"]),
    # commands
    ('C=(python3 -m sglang.launch_server --model-path m)\nif x; then C+=(--tp 2); fi\n"${C[@]}"',
     [[[], ["--tp", "2"]]]),
    ("C=$(cat <<- EOF\npython3 -m sglang.launch_server --model-path m \\\n--tp ${N}\nEOF\n)\nN=2\neval $C",
     ["--tp", "2"]),
    ("C=$(cat <<'EOF'\nsglang serve --model-path m --tp $N\nEOF\n)\nN=2\neval \"$C > log 2>&1 &\"", ["--tp", "2"]),
    ('C="python3 -m sglang.launch_server --model-path m"\neval "$C --tp 3"', ["--tp", "3"]),
    (f"TP=3\nbash -c \"{LAUNCH} --tp $TP\"", ["--tp", "3"]),
    (f"pkill -f sglang.launch_server\necho python -m sglang.launch_server\n{LAUNCH}", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), CASES)
def test_what_a_launch_may_be(text: str, words: list[Shape]) -> None:
    assert shapes(text) == words


def test_both_commands_of_a_condition_are_launches() -> None:
    text = "if x; then C='python -m sglang.launch_server --a'; else C='sglang serve m --b'; fi\n$C\n"
    found = read_launches(text, "a.sh", FLAGS)
    assert [[word.text for word in one.arguments] for one in found] == [["--a"], ["m", "--b"]]


def test_a_variable_of_the_environment_is_one_of_several() -> None:
    (launch,) = read_launches(f"if x; then export SGLANG_A=1; fi\n{LAUNCH}", "a.sh", FLAGS)
    assert "SGLANG_A" in launch.unset
    assert not launch.env


SCRIPT = """TP=2
KV=auto
if [ "$1" = fast ]; then
  KV=fp8
  TP=8
fi
python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp $TP --kv-cache-dtype $KV
"""


def test_the_answer_says_which_values_work_and_where_they_are_set() -> None:
    report = FileChecker(Asked("4xH100", why=False)).check(SCRIPT, "a.sh")
    assert report.holds
    said = [one.message for one in problems([report]) if one.level == "note"]
    assert any("line 5" in one and "holds with 2" in one and "not with 8" in one for one in said)
    assert any("line 4" in one and "not with fp8" in one for one in said)


def test_what_makes_no_difference_is_said_with_its_line() -> None:
    text = f"A=\nif x; then A=--enable-metrics; fi\n{LAUNCH.replace(' m', ' Qwen/Qwen3-8B')} $A\n"
    (launch,) = FileChecker(Asked("H100", why=False)).check(text, "a.sh").launches
    (unknown,) = launch.unknown
    assert (unknown.chosen, unknown.fails) == ((2,), ())


def test_models_of_several_branches_are_all_looked_into() -> None:
    text = "if x; then M=Qwen/Qwen3-8B; else M=deepseek-ai/DeepSeek-V3; fi\n" + LAUNCH.replace(" m", " $M")
    (launch,) = FileChecker(Asked("H100", why=False)).check(text, "a.sh").launches
    assert [one.fails for one in launch.unknown] == [("deepseek-ai/DeepSeek-V3",)]


def test_a_fix_is_written_where_the_words_stand() -> None:
    text = f"A=\nif x; then A='--dp 1'; fi\n{LAUNCH.replace(' m', ' Qwen/Qwen3-8B')} $A --tp 4\n"
    checker = FileChecker(Asked("1xH100"))
    (one,) = checker.check(text, "a.sh").launches
    fix = mendable(one)
    assert fix is not None
    mended = applied(text, edits(text, one, fix, FLAGS))
    assert checker.check(mended, "a.sh").holds
    assert mended.startswith(text.rpartition(" --tp")[0])


@pytest.mark.parametrize(
    "text",
    [
        "A=x\n" + 'A="$A$A"\n' * 60 + f"{LAUNCH} --x $A",
        "A=\n" + 'if x; then A="$A --y"; fi\n' * 200 + f"{LAUNCH} $A",
        "if x; then " * 90 + "A=1;" + " fi;" * 90 + f"\n{LAUNCH} --x $A",
        "".join(f"A{number}=1\n" for number in range(5000)) + "if x; then B=1; fi\n" * 3000 + LAUNCH,
        "fi done esac } ) ;; then else " * 500 + f"\n{LAUNCH}",
        f"{LAUNCH} " + "${a:-" * 3000 + "}" * 3000,
        "A=(" + "x " * 3000 + ')\necho "${A[@]}"\n' + 'true "${A[@]}"\n' * 3000 + LAUNCH,
        "case x in " * 90 + f"\n{LAUNCH}",
    ],
)
def test_hostile_scripts_end_soon(text: str) -> None:
    begun = time.process_time()
    with suppress(InputError):
        read_launches(text, "a.sh", FLAGS)
    assert time.process_time() - begun < 2


def test_a_script_nested_deeper_than_any_is_refused() -> None:
    with pytest.raises(InputError, match="nested"):
        read_launches("if x; then " * 500 + f"\n{LAUNCH}", "a.sh", FLAGS)


def test_variables_that_grow_without_end_are_refused() -> None:
    text = "A=" + "x" * 60_000 + "\n" + "true $A\n" * 2000 + LAUNCH
    with pytest.raises(InputError, match="grow"):
        read_launches(text, "a.sh", FLAGS)
