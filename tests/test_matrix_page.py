"""The page of a matrix in a real browser, where there is one: filter, pick, read, keys, a narrow screen, no traffic."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from solver.api import Preflight
from solver.render import matrix_html

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
pytestmark = pytest.mark.skipif(not DRIVER or not BROWSER, reason="no Chromium with its driver is installed")
MODELS = ("Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3")
GPUS = ("B200", "H100", "H200", "A100", "MI300X")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    preflight = Preflight("0.5.23")
    made = [preflight.matrix(model, columns=GPUS, ways=False) for model in MODELS]
    file: Path = tmp_path_factory.mktemp("page") / "matrix.html"
    file.write_text(matrix_html.page(made), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def browser(page: str) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,900"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    opened.get(page)
    yield opened
    # Whatever was done, nothing was complained of and nothing was asked for.
    assert opened.get_log("browser") == []
    sent = [json.loads(one["message"])["message"] for one in opened.get_log("performance")]
    asked = [one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"]
    assert {url.split(":")[0] for url in asked} <= {"file", "data"}
    opened.quit()


def all_of(browser: Any, query: str) -> list[Any]:
    return list(browser.find_elements("css selector", query))


def one_of(browser: Any, query: str) -> Any:
    return browser.find_element("css selector", query)


def heads(browser: Any) -> list[str]:
    return [one.get_attribute("textContent") for one in all_of(browser, "thead th")[1:]]


def keys(browser: Any, *pressed: str) -> None:
    for key in pressed:
        browser.switch_to.active_element.send_keys(key)


def test_filter(browser: Any) -> None:
    assert heads(browser) == ["B200", "H100 +1", "A100", "MI300X"]
    one_of(browser, "input[name=merge]").click()
    assert heads(browser) == list(GPUS)
    one_of(browser, "input[name=columns]").send_keys("h100 mi300")
    assert heads(browser) == ["H100", "MI300X"]
    one_of(browser, "input[name=rows]").send_keys("mla")
    assert {one.text for one in all_of(browser, "tbody th")} >= {"trtllm_mla", "flashmla"}
    assert "triton" not in {one.text for one in all_of(browser, "tbody th")}
    one_of(browser, ".legend .refused").click()
    assert "trtllm_mla" not in {one.text for one in all_of(browser, "tbody th")}
    one_of(browser, "input[name=rows]").send_keys("nothing is called so")
    assert "Nothing matches" in one_of(browser, "#frame").text


def test_other_columns(browser: Any) -> None:
    browser.execute_script(
        "const list = document.querySelector('select[name=across]'); list.value = 'model'; list.onchange();"
    )
    assert heads(browser) == list(MODELS)


def test_pick_and_read(browser: Any) -> None:
    next(
        one for one in all_of(browser, "td.refused") if one.get_attribute("aria-label").startswith("trtllm_mla, H")
    ).click()
    read = one_of(browser, "#detail").text
    for part in (
        "trtllm_mla on 1xH100",
        "refused",
        "The same for 1xH200",
        "srt/",
        "Why not\n",
        "Do:",
        "--attention-backend trtllm_mla",
    ):
        assert part in read


def test_keys(browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.execute_script("document.querySelector('td[tabindex=\"0\"]').focus()")
    keys(browser, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert browser.switch_to.active_element.get_attribute("aria-label").startswith("torch_native, H100")
    keys(browser, Keys.ENTER)
    assert "torch_native on 1xH100" in one_of(browser, "#detail").text
    keys(browser, Keys.ESCAPE)
    assert "Pick a cell" in one_of(browser, "#detail").text
    assert browser.switch_to.active_element.tag_name == "td"
    assert len(all_of(browser, 'td[tabindex="0"]')) == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_narrow(browser: Any, theme: str) -> None:
    size = {"width": 380, "height": 720, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    )
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 380
    all_of(browser, "td.works")[0].click()
    assert one_of(browser, "#shut").is_displayed()
    # What is read does not lie over the cell it is about.
    for cell in (all_of(browser, "td.works")[0], all_of(browser, "td.refused")[-1]):
        browser.execute_script("arguments[0].scrollIntoView({block: 'end'}); arguments[0].click();", cell)
        cell_end, read_from = browser.execute_script(
            "return [arguments[0].getBoundingClientRect().bottom, document.querySelector('#detail')"
            ".getBoundingClientRect().top];",
            cell,
        )
        assert cell_end <= read_from
    ink, back = browser.execute_script(
        "const of = getComputedStyle(document.querySelector('td.works')); return [of.color, of.backgroundColor];"
    )
    assert contrast(ink, back) > 7
    one_of(browser, "#shut").click()
    assert not one_of(browser, "#detail").is_displayed()


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours (WCAG 2)."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((light(first), light(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
