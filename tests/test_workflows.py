"""Files that other tools read: workflows, which cannot run here, hooks, the citation."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def check(*command):
    tool = Path(sys.executable).parent / command[0]
    done = subprocess.run([tool, *command[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def steps(workflow):
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def test_they_follow_the_schema():
    check("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)
    check(
        "check-jsonschema",
        "--builtin-schema",
        "vendor.dependabot",
        ROOT / ".github" / "dependabot.yml",
    )
    check("check-jsonschema", "--builtin-schema", "citation-file-format", ROOT / "CITATION.cff")


def test_no_weakness_is_known_of_them():
    folder = ROOT / ".github"
    check("zizmor", "--offline", "--quiet", "--config", folder / "zizmor.yml", folder)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_to_a_commit_with_its_version(workflow):
    used = re.findall(r"\buses: *(.*)", workflow.read_text(encoding="utf-8"))
    assert used
    for line in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_targets_of_make_that_they_run_exist(workflow):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    words = [step.get("run", "").split() for step in steps(workflow)]
    targets = [run[run.index("make") + 1] for run in words if "make" in run]
    assert all(f"\n{target}:" in makefile for target in targets)


def test_every_python_that_is_promised_is_tested():
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    promised = [
        line.rpartition(" ")[2]
        for line in PROJECT["project"]["classifiers"]
        if line.startswith("Programming Language :: Python :: 3.")
    ]
    assert promised
    assert all(f'"{version}"' in text for version in promised)


def test_all_extras_are_in_the_one_that_has_all():
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = everything.removeprefix("solah[").removesuffix("]").split(",")
    assert named == sorted(set(extras) - {"all"})
