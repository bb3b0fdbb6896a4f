"""What an export costs: measured with the tools of a platform, or counted without them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from devices import with_tools
from judged_models import STEADY, judged_model

from random_models import random_model
from solah import LinguisticTreeClassifier, RuleClassifier, RuleRegressor, datasets
from solah.exceptions import ParameterError
from solah.export import export_c, flash_size
from solah.export.agreement import sample_rows
from solah.export.footprint import counted_flash, footprint
from solah.export.max_flash import check_flash, read_bytes
from solah.export.online import Pace
from solah.export.units import Counts


@cache
def fitted(max_rules=20, name="wine"):
    data = datasets.load(name)
    return RuleClassifier(max_rules=max_rules).fit(data.table, data.target)


@pytest.fixture
def tools(find_tool):
    return with_tools("cortex-m0plus", find_tool)


@pytest.fixture
def without_tools(monkeypatch):
    monkeypatch.setattr("solah.export.footprint.missing_tools", lambda _: ["a compiler"])


@pytest.mark.parametrize("numbers", ["float", "q15"])
@pytest.mark.parametrize("style", ["plain", "tables"])
def test_the_count_is_near_what_is_measured(numbers, style, tools):
    for max_rules, name in ((8, "wine"), (20, "wine"), (30, "wdbc")):
        model = fitted(max_rules, name).model_
        export = export_c(model, numbers=numbers, style=style)
        size = flash_size(export, tools)
        assert size.is_measured
        counted = counted_flash(export.files, export.name, style)
        assert counted == pytest.approx(size.n_bytes, rel=0.25)
        if numbers == "q15":
            conversion = size.n_bytes - footprint(export, tools, sample_rows(model, 2)).flash
            assert 100 < conversion < 300


def test_without_a_compiler_tables_and_lines_are_counted(without_tools):
    export = export_c(fitted().model_, numbers="q15")
    size = flash_size(export)
    assert str(size) == f"{size.n_bytes:,} bytes of flash (counted from tables and lines)"
    assert size.n_bytes == counted_flash(export.files, export.name, export.style)
    assert f"{size.n_bytes:,} bytes of flash" in export.files["model.h"]


def test_reasons_policies_and_learning_count(tools):
    model = fitted().model_
    bare = flash_size(export_c(model, numbers="q15", style="tables"), tools).n_bytes
    assert flash_size(export_c(model, numbers="q15", reasons=True), tools).n_bytes > bare + 500
    assert flash_size(export_c(model, numbers="q15", learning=Pace()), tools).n_bytes > bare
    judged = replace(judged_model(np.random.default_rng(4), "groups"), policy=STEADY)
    without = replace(judged, policy=None, domain=None)
    sizes = [flash_size(export_c(one, numbers="q15"), tools).n_bytes for one in (judged, without)]
    assert sizes[0] > sizes[1] + 200
    (rows,) = [sample_rows(judged, 20)]
    assert footprint(export_c(judged, numbers="q15"), tools, rows).ram <= 48


def test_readings_that_are_counts_are_not_converted(tools):
    model = fitted(8).model_
    adc = {one.name: Counts(12, (one.peaks[-1] or 1.0) / 4096) for one in model.features}
    taken = export_c(model, numbers="q15", adc=adc)
    assert flash_size(taken, tools).n_bytes == footprint(taken, tools, sample_rows(model, 2)).flash


def test_the_most_rules_that_fit_are_selected(tools):
    data = datasets.load("wine")
    free = RuleClassifier(max_rules=20).fit(data.table, data.target)
    limit = flash_size(export_c(free.with_rules(10).model_, numbers="q15")).n_bytes
    model = RuleClassifier(max_rules=20, max_flash=limit).fit(data.table, data.target)
    size = flash_size(export_c(model.model_, numbers="q15"), tools)
    assert size.n_bytes <= limit
    assert model.model_.n_rules >= free.with_rules(10).model_.n_rules
    assert (model.max_rules, model.get_params()["max_flash"]) == (20, limit)
    assert f"the most that fit into {limit:,} bytes of flash on cortex-m0plus" in (
        model.selection_reason_
    )
    assert (model.predict(data.table) == model.with_rules(model.n_rules_).predict(data.table)).all()
    roomy = RuleClassifier(max_rules=20, max_flash="8kB").fit(data.table, data.target)
    assert roomy.n_rules_ == free.n_rules_
    assert roomy.selection_reason_.endswith("on cortex-m0plus, in integers")


def test_budgets_without_a_compiler_and_of_numbers(without_tools):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    free = RuleRegressor().fit(X, y)
    limit = flash_size(export_c(free.model_, numbers="q15")).n_bytes - 1
    model = RuleRegressor(max_flash=limit, platform="avr").fit(X, y)
    assert 0 < model.n_rules_ < free.n_rules_
    assert "(counted from tables and lines)" in model.selection_reason_
    with pytest.raises(ParameterError, match="'max_flash' is for C in integers, .* another loss"):
        RuleRegressor(loss="poisson", max_flash=limit).fit(X, np.exp(y))


def test_budgets_that_cannot_be_met_are_refused(without_tools):
    data = datasets.load("iris")
    for settings, message in (
        ({"max_flash": 100}, "'max_flash' allows 100 bytes, and no model is as small"),
        ({"max_flash": "much"}, "'max_flash' must be a number of bytes such as 2048 or 4k"),
        ({"max_flash": "1k", "platform": "cortex-m5"}, "there is no platform 'cortex-m5'"),
    ):
        with pytest.raises(ParameterError, match=message):
            RuleClassifier(**settings).fit(data.table, data.target)
    for settings in (
        {"max_rules": 1},
        {"required_features": ["petal length (cm)", "petal width (cm)"]},
    ):
        with pytest.raises(ParameterError, match="the smallest one takes [0-9,]+ bytes of flash"):
            RuleClassifier(max_flash=10, **{"max_rules": 4} | settings).fit(data.table, data.target)
    export = export_c(fitted().model_, numbers="q15")
    size = flash_size(export).n_bytes
    check_flash(export, size)
    with pytest.raises(
        ParameterError, match=f"allows {size - 1:,}: fit it again with --set max_fl"
    ):
        check_flash(export, size - 1)


def test_sizes_are_read():
    for text, size in ((512, 512), ("0.5k", 512), ("0.5 KiB", 512), ("1kB", 1024), (" 7 ", 7)):
        assert read_bytes(text) == size
    for text in ("9" * 5000, "9" * 400 + "k", "0", "-1", "4kk"):
        with pytest.raises(ParameterError, match="'max_flash' must be a number of bytes"):
            read_bytes(text)
    for text in ("", 0, "0", "0.0001k", "1.5", "-4k", "k", "4m", "4k!", "٤k", "1e3"):
        with pytest.raises(ParameterError, match="such as 2048 or 4k"):
            read_bytes(text)


def test_trees_are_measured_too(tools):
    data = datasets.load("iris")
    tree = LinguisticTreeClassifier(max_rules=30).fit(data.table, data.target).model_
    assert flash_size(export_c(tree, numbers="q15"), tools).n_bytes < 2_000
    number = random_model(np.random.default_rng(3), "words", 4)
    assert flash_size(export_c(number, numbers="q15"), tools).is_measured
