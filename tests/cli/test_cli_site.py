"""Site files on the command line: checked, proposed, and refused in one line."""

import pytest

from solah.model import load_document


@pytest.fixture
def site(wine_model, write):
    """Write a site that feeds a model of wines; return the file."""
    names = [one.name for one in load_document(wine_model).features]
    lines = [f"    {name}: {{from: {name}}}" for name in names]
    head = (f"model: {wine_model}", "sensors:", "- topic: t", "  features:")
    return write("site.yaml", *head, *lines)


def test_a_site_is_checked(run, site):
    outcome = run("site", "check", site)
    assert (outcome.code, outcome.err) == (0, "")
    assert "none: 'solah site run' needs one" in outcome.out
    assert run("site", "check", site, "--json").document["unfed"] == []


def test_features_without_a_sensor_are_told(run, site):
    *lines, last = site.read_text(encoding="utf-8").splitlines()
    site.write_text("\n".join(lines) + "\n", encoding="utf-8")
    name = last.split(":")[0].strip()
    assert run("site", "check", site, "--json").document["unfed"] == [name]
    assert f"No sensor feeds: {name}." in run("site", "check", site).out


def test_errors_are_one_line_with_the_place(run, site):
    site.write_text(site.read_text(encoding="utf-8") + "  max_age: 3\n", encoding="utf-8")
    run("site", "check", site).check_error("site.yaml: line ", "site.sensors[0].max_age")


def test_a_site_needs_a_broker_to_run(run, site):
    run("site", "run", site).check_error("add 'broker: mqtt://host'")


def test_what_the_file_says_is_not_said_again(run, site):
    run("site", "run", site, "--root", "a").check_error(
        "--root cannot be combined with a site file"
    )
    run("site", "node", site, "--name", "a", "--broker", "mqtt://h").check_error(
        "--broker cannot be combined"
    )
    run("site", "run").check_error("a site file, or --plan and --replay")
    run("site", "node", "--name", "a").check_error("a site file, or --plan")


def test_options_that_would_do_nothing_are_refused(run, site):
    table = ("--plan", site, "--replay", site)
    node = ("site", "node", "--plan", site, "--name", "a")
    for words, error in (
        (("site", "run", site, "--expire-after", "5"), "--expire-after requires --home-assistant"),
        (("site", "run", site, "--host", "0.0.0.0"), "--host requires --web"),
        (("site", "watch", site, "--allow-host", "hub"), "--allow-host requires --web"),
        (
            ("site", "run", site, "--read", "header=no"),
            "--read cannot be combined with a site file",
        ),
        (("site", "run", *table, "--health", "80"), "--health requires a site file"),
        (("site", "run", *table, "--seconds", "0"), "--seconds requires a site file"),
        (("site", "run", *table, "--home-assistant"), "--home-assistant requires a site file"),
        ((*node, "--expire-after", "5"), "--expire-after requires --home-assistant"),
        ((*node, "--replay-rate", "5"), "--replay-rate requires --replay"),
        ((*node, "--read", "header=no"), "--read requires --replay"),
    ):
        run(*words).check_error(error)


def test_a_site_is_watched_and_published_from_its_file(run, site):
    for verb in ("watch", "publish"):
        run("site", verb, site).check_error("add 'broker: mqtt://host'")
        run("site", verb, site, "--broker", "mqtt://h").check_error("--broker cannot be combined")
        run("site", verb, site, "--site", "house").check_error("--site cannot be combined")
        run("site", verb, site, "--root", "plant").check_error("--root cannot be combined")
    run("site", "watch", site, "--plan", site).check_error("--plan cannot be combined")
    run("site", "publish", site, "--at-time", "yesterday").check_error("--at-time")
    run("site", "publish", site, "--history", "--end-shadow").check_error(
        "pass a site file, or one of"
    )


def test_nobody_answers(run, wine_model):
    words = (wine_model, "--broker", "mqtt://127.0.0.1:1")
    run("site", "learn", *words, "--seconds", "1").check_error("cannot be reached")
