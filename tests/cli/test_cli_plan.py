"""``solah plan``: which node runs what, and what that costs on the wire."""

import json
import stat

import numpy as np
import pytest

from solah.site.bundle import load_bundle
from solah.site.trust import load_trust

PLACEMENT = (
    "site: house",
    "gateway: hub",
    "nodes:",
    "  cellar: [alcohol, ash]",
    "  shop: [hue, color_intensity]",
    "  office: [proline]",
)


@pytest.fixture
def placement(write):
    return write("placement.yaml", *PLACEMENT)


def test_the_network_is_drawn_with_its_nodes(run, wine_model, placement, tmp_path):
    output = tmp_path / "plan.json"
    outcome = run("site", "plan", wine_model, "--placement", placement, "-o", output)
    assert outcome.code == 0, outcome.err
    assert (
        "\n".join(
            (
                "wine (office) ← proline",
                "├─ taste (cellar) ← alcohol, ash",
                "└─ look (shop) ← hue, color_intensity",
            )
        )
        in outcome.out
    )
    assert (
        "\n".join(
            (
                "1. office",
                "   reads  proline",
                "   runs   wine",
                "   gets   taste of cellar, look of shop",
                "2. shop",
                "   reads  hue, color_intensity",
                "   runs   look",
                "   sends  look",
                "3. cellar",
            )
        )
        in outcome.out
    )
    assert "What the nodes send is larger than their readings" in outcome.out
    bundle = load_bundle(output)
    assert bundle.plan.site == "house"
    assert bundle.plan.home == {"taste": "cellar", "look": "shop", "wine": "office"}


def test_a_new_key_signs_and_can_be_checked(run, wine_model, tmp_path):
    output, stem = tmp_path / "plan.json", tmp_path / "site"
    found = run("site", "plan", wine_model, "--new-key", stem, "-o", output, "--json").document
    private, public = tmp_path / "site.pem", tmp_path / "site.pub.pem"
    assert found["signed"]
    assert found["written"] == [str(output), str(private), str(public)]
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    first = load_bundle(output, load_trust([public]))

    again = tmp_path / "again.json"
    assert run("site", "plan", wine_model, "--sign", private, "-o", again).code == 0
    later = load_bundle(again, load_trust([public]))
    assert later.hash == first.hash
    assert later.counter > first.counter
    run("site", "plan", wine_model, "--sign", public, "-o", again).check_error("no readable key")
    private.chmod(0o640)
    run("site", "plan", wine_model, "--sign", private, "-o", again).check_error("chmod 600")
    run("site", "plan", wine_model, "--new-key", stem, "-o", again).check_error("never overwritten")
    run("site", "plan", wine_model, "--new-key", "x", "--sign", private).check_error("drop --sign")


def test_the_acl_of_a_site_has_its_sensors(run, wine_model, write, tmp_path):
    site = write(
        "site.yaml",
        *PLACEMENT,
        "root: plant",
        "sensor_brokers: {office: mqtt://elsewhere}",
        "policy: {min_completeness: 0.5}",
        "sensors:",
        "- {topic: home/cellar/+, features: {alcohol: a, ash: b}}",
        "- {topic: home/shop, features: {hue: h, color_intensity: c}}",
        "- {topic: home/office, features: {proline: p}}",
    )
    acl, output = tmp_path / "acl.txt", tmp_path / "plan.json"
    outcome = run("site", "plan", wine_model, "--placement", site, "-o", output, "--acl", acl)
    assert outcome.code == 0, outcome.err
    text = acl.read_text(encoding="utf-8")
    of_users = {part.split()[0]: part.splitlines() for part in text.split("user ")[1:]}
    read = {
        user: [line.split()[2] for line in lines if line.startswith("topic read home/")]
        for user, lines in of_users.items()
    }
    # Nodes read the topics of their own features alone; office has another broker.
    assert read == {
        "office": [],
        "shop": ["home/shop"],
        "cellar": ["home/cellar/+"],
        "operator": [],
        "watcher": [],
    }
    assert "topic write plant/house/cellar/out" in of_users["cellar"]
    assert load_bundle(output).model.policy.min_completeness == 0.5


def test_bad_input_is_said_in_one_line_and_nothing_is_written(run, wine_model, write, tmp_path):
    output = tmp_path / "plan.json"

    def fail(*words):
        outcome = run("site", "plan", wine_model, "-o", output, *words)
        assert not output.exists()
        return outcome

    apart = write("apart.yaml", "a: [alcohol]", "b: [ash, hue, color_intensity, proline]")
    fail("--placement", apart).check_error("'taste' asks 'alcohol' of 'a' and 'ash' of 'b'")
    unknown = write("unknown.yaml", "a: [alcohl]")
    fail("--placement", unknown).check_error("a node for 'alcohol'", "did you mean 'alcohl'?")
    fail("--slack", 0.5).check_error("--slack requires --on-change")
    fail("--on-change").check_error("'slack' and 'unit' are for additive models")
    fail("--on-change", "--slack", 2).check_error("'slack' must be from 0 to 0.9. Got 2.0")
    twice = write("twice.json", '{"a": ["ash"], "a": ["hue"]}')
    fail("--placement", twice).check_error("twice.json", "is there twice")
    fail("--placement", tmp_path / "none.yaml").check_error("none.yaml")
    fail("--site", "a/b").check_error("Got 'a/b' instead")
    fail("--acl", tmp_path / "acl.txt", "--root", "#").check_error("without '+' and '#'")
    run("site", "plan", write("model.json", "{}"), "-o", output).check_error("not a solah model")


# --- groups that follow the devices --------------------------------------------------------------

DEVICES = (
    "cellar: [alcohol, ash, malic_acid, alcalinity_of_ash, magnesium]",
    "shop: [hue, color_intensity, total_phenols, flavanoids, nonflavanoid_phenols]",
    "office: [proline, proanthocyanins, od280/od315_of_diluted_wines]",
)


@pytest.fixture
def devices(write):
    return write("devices.yaml", *DEVICES)


def test_groups_follow_the_devices_and_each_node_sends_one_vector(run, devices, tmp_path):
    model, output = tmp_path / "model.json", tmp_path / "plan.json"
    outcome = run("fit", "wine", "--placement", devices, "-o", model, "-q")
    assert outcome.code == 0, outcome.err
    outcome = run("site", "plan", model, "--placement", devices, "--on-change", "-o", output)
    assert outcome.code == 0, outcome.err
    assert "measured, but not used by the model" in outcome.err
    assert "Nodes send on change" in outcome.out
    plan = load_bundle(output).plan
    sends = {node.name: node.sends for node in plan.nodes}
    assert sends == {name: (name,) for name in ("cellar", "shop", "office")} | {"gateway": ()}
    assert (plan.sending.slack, plan.sending.unit, plan.sending.keep_alive) == (0.5, 2**-5, 60.0)


def test_rules_are_fitted_to_lose_whole_devices(run, write, tmp_path):
    drawn = np.random.default_rng(0).normal(size=(200, 3))
    rows = [f"{c + a:.3f},{c + b:.3f},{'yes' if c > 0 else 'no'},{c:.3f}" for a, b, c in drawn]
    table = write("two.csv", "a,b,target,number", *rows)
    placed = ("--placement", write("two.yaml", "n: [a]", "m: [b]"))
    groups = ("--set", "feature_groups={n: [a], m: [b]}")
    by_hand = (*groups, "--set", "interaction_cst=[[a], [b]]")
    output, found = tmp_path / "model.json", []
    kept = (*placed, "--set", "robust_to=null")
    for words in (placed, (*by_hand, "--set", "robust_to=groups"), by_hand, kept):
        outcome = run("fit", table, "-t", "target", "--drop", "number", *words, "-o", output)
        assert outcome.code == 0, outcome.err
        found.append(json.loads(output.read_bytes())["nodes"])
    assert found[0] == found[1] != found[2] == found[3]
    number = ("fit", table, "-t", "number", "--drop", "target", "-o", output)
    assert run(*number, *placed).code == 0
    run(*number, "--set", "robust_to=groups").check_error(
        "'robust_to' is not a parameter of RuleRegressor"
    )


def test_a_placement_that_does_not_fit_the_columns_is_refused(run, write, devices, tmp_path):
    common = ("fit", "wine", "-o", tmp_path / "m.json")
    some = write("some.yaml", "a: [alcohol]")
    run(*common, "--placement", some).check_error("some.yaml has no node for", "--drop")
    more = write("more.yaml", *DEVICES, "b: [wood]")
    run(*common, "--placement", more).check_error("more.yaml places 'wood', which is not a feature")
    run(*common, "--placement", tmp_path / "no.yaml").check_error("no.yaml")
    run(*common, "--placement", devices, "--set", "feature_groups={a: [ash]}").check_error(
        "--placement sets 'feature_groups'"
    )
    run(*common, "--placement", devices, "--set", "interaction_cst=[[ash, hue]]").check_error(
        "--placement sets 'interaction_cst'"
    )
    run(*common, "--placement", devices, "--model", "tree").check_error(
        "--placement is for --model rules, not for tree"
    )
    assert not (tmp_path / "m.json").exists()
