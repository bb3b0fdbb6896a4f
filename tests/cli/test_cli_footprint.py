"""``solah footprint``: what a model costs on a device."""

import pytest

from solah.export.platforms import PLATFORMS, missing_tools


@pytest.fixture
def cortex(find_tool):
    for tool in missing_tools(PLATFORMS["cortex-m0plus"], counting=True):
        find_tool(tool)
    return "cortex-m0plus"


def test_integers_cost_less(run, wine_model, cortex):
    words = ("export", "--footprint", wine_model, "wine", "--platform", cortex, "--json")
    (floats,) = run(*words).document["footprints"]
    (integers,) = run(*words, "--arithmetic", "q15").document["footprints"]
    assert integers["flash"] < floats["flash"]
    assert integers["instructions"] < floats["instructions"]
    assert integers["ram"] == floats["ram"] == 0
    assert floats["platform"] == cortex
    (learning,) = run(*words, "--learn").document["footprints"]
    assert learning["flash"] > integers["flash"]
    assert learning["ram"] > 0


def test_a_platform_without_tools_leaves_the_others(run, wine_model, monkeypatch, find_tool):
    for tool in missing_tools(PLATFORMS["host"], counting=True):
        find_tool(tool)
    monkeypatch.setattr(
        "solah.export.platforms.missing_tools",
        lambda one, counting: [] if one.name == "host" else ["a compiler"],
    )
    outcome = run("export", "--footprint", wine_model, "--platform", "cortex-m4,host", "--json")
    assert [one["platform"] for one in outcome.document["footprints"]] == ["host"]
    assert "skipped cortex-m4; to get it:" in outcome.err


def test_what_is_missing_is_said_with_what_to_do(run, wine_model, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    outcome = run("export", "--footprint", wine_model, "--platform", "cortex-m4")
    outcome.check_error("apt", "gcc-arm-none-eabi")
    none_at_all = run("export", "--footprint", wine_model)
    assert none_at_all.code == 2
    assert "skipped cortex-m4f; to get it:" in none_at_all.err
