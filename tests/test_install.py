"""Installing from the sources, where there is a compiler and where there is none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


def install(target, environment):
    """Install solah from the sources into a folder; return what pip said."""
    options = "--no-deps --no-build-isolation --disable-pip-version-check --verbose --target"
    return subprocess.run(
        [sys.executable, "-m", "pip", "install", *options.split(), str(target), str(ROOT)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def kernel_of(target):
    """Ask an installed solah which kernel it uses and what it computes with it."""
    code = (
        "import json\n"
        "from solah.kernels.choose import kernel\n"
        "from solah import LinguisticTreeClassifier\n"
        "tree = LinguisticTreeClassifier().fit([[1.5], [2.5], [3.5], [9.5]], [0, 0, 1, 1])\n"
        "print(json.dumps([kernel().name, tree.predict_proba([[2.0]]).tolist()]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(target)}
    run = [sys.executable, "-c", code]
    return json.loads(subprocess.run(run, env=environment, capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def without_compiler(tmp_path_factory):
    """Install with the build tools at hand but no compiler; return the folder and pip's words."""
    tools, target = tmp_path_factory.mktemp("bin"), tmp_path_factory.mktemp("plain")
    for tool in ("cmake", "ninja"):
        (tools / tool).symlink_to(Path(sys.executable).parent / tool)
    kept = {k: v for k, v in os.environ.items() if k not in ("CC", "CXX", "CFLAGS", "CMAKE_ARGS")}
    said = install(target, {**kept, "PATH": str(tools)})
    assert said.returncode == 0, said.stdout + said.stderr
    return target, said.stdout + said.stderr


@pytest.fixture(scope="module")
def with_compiler(find_tool, tmp_path_factory):
    """Install as a user does; return the folder."""
    find_tool("cc")
    target = tmp_path_factory.mktemp("compiled")
    said = install(target, dict(os.environ))
    assert said.returncode == 0, said.stdout + said.stderr
    return target


def test_without_a_compiler_the_numpy_kernels_are_installed_with_a_note(without_compiler):
    target, said = without_compiler
    assert "no C compiler found" in said
    assert not list(target.rglob("_native.*"))
    assert kernel_of(target)[0] == "reference"


def test_with_a_compiler_the_native_kernel_computes_the_same(with_compiler, without_compiler):
    native, reference = kernel_of(with_compiler), kernel_of(without_compiler[0])
    assert (native[0], reference[0]) == ("native", "reference")
    assert native[1] == reference[1]


def test_what_is_installed_is_whole(with_compiler):
    installed = {path.relative_to(with_compiler).as_posix() for path in with_compiler.rglob("*")}
    assert {"solah/py.typed"} <= installed


def test_only_the_library_is_installed(with_compiler):
    tops = {path.name for path in with_compiler.iterdir() if path.suffix != ".dist-info"}
    assert tops == {"bin", "solah"}
    assert not (with_compiler / "solah" / "reproduction").exists()
