"""The C text itself: free of warnings, and clean under the sanitizers."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from random_models import ADDITIVE_SHAPES, SHAPES, any_model, odd_rows, random_model
from solah.export.online import Learner
from solah.model.evaluate import run as run_program

NATIVE = Path(__file__).parents[2] / "native"
CORE = Path(__file__).parents[2] / "src" / "solah" / "export" / "c_runtime"
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


@pytest.fixture
def compile_c(find_tool):
    compiler = find_tool("cc")

    def run(*arguments):
        command = [compiler, *WARNINGS, f"-I{NATIVE}", f"-I{CORE}", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("name", ["kernels", "boosting", "learning", "run"])
def test_the_kernels_compile_without_a_warning(compile_c, tmp_path, name):
    result = compile_c("-c", NATIVE / f"{name}.c", "-o", tmp_path / f"{name}.o")
    assert result.returncode == 0, result.stderr


def test_the_core_compiles_for_float_without_a_warning(compile_c, tmp_path):
    source = tmp_path / "core.c"
    source.write_text('#include "solah_core.h"\nint main(void) { return 0; }\n')
    result = compile_c("-DSOLAH_REAL=float", "-Wdouble-promotion", source, "-o", tmp_path / "core")
    assert result.returncode == 0, result.stderr


def test_runs_clean_under_the_sanitizers(compile_c, tmp_path):
    """Run all kernels, with exact buffers on the heap, under ASan and UBSan."""
    program = tmp_path / "driver"
    built = compile_c(
        *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"),
        *(NATIVE / "kernels.c", NATIVE / "boosting.c"),
        Path(__file__).with_name("sanitize_driver.c"),
        *("-o", program),
    )
    assert built.returncode == 0, built.stderr
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    beliefs = np.array(run.stdout.split(), dtype=float)
    assert len(beliefs) == 200
    np.testing.assert_allclose(beliefs, 1.0, atol=1e-12)


def test_programs_run_clean_under_the_sanitizers(compile_c, tmp_path):
    """Run programs of all shapes, with exact buffers on the heap, under ASan and UBSan."""
    driver, data = tmp_path / "driver", tmp_path / "program"
    built = compile_c(
        *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"),
        *("-ffp-contract=off", NATIVE / "run.c"),
        Path(__file__).with_name("sanitize_run.c"),
        *("-o", driver, "-lm"),
    )
    assert built.returncode == 0, built.stderr
    for seed in range(12):
        model = any_model(seed)
        rows, program = odd_rows(np.random.default_rng(seed), model, 50), model.program
        flat, n_terms = program.flat, program.first_terms[-1]
        sizes = [len(flat.code), len(flat.numbers), *rows.shape]
        sizes += [program.n_outputs, len(program.stages), n_terms]
        parts = np.array(sizes, dtype=np.int64), flat.code, flat.numbers, rows
        data.write_bytes(b"".join(part.tobytes() for part in parts))
        run = subprocess.run([str(driver), str(data)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        found = np.array([float.fromhex(number) for number in run.stdout.split()])
        np.testing.assert_array_equal(found, run_program(program, rows).ravel())


def test_learning_runs_clean_under_the_sanitizers(compile_c, tmp_path):
    """Learn with models of all shapes, with exact buffers on the heap, under ASan and UBSan."""
    driver, data = tmp_path / "driver", tmp_path / "learner"
    built = compile_c(
        *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"),
        *(NATIVE / "learning.c", Path(__file__).with_name("sanitize_learn.c")),
        *("-o", driver, "-lm"),
    )
    assert built.returncode == 0, built.stderr
    for seed, shape in enumerate([*SHAPES, *ADDITIVE_SHAPES]):
        rng = np.random.default_rng(seed)
        model = random_model(rng, shape, 2 + seed % 3)
        learner = Learner(model, pace=512.0, forgetting=0.25)
        rows, n_classes = odd_rows(rng, model, 80), model.program.n_outputs
        observed = rng.integers(-1, n_classes + 1, len(rows))
        flat, learned = learner.simulator.flat(), learner.simulator.learned
        sizes = np.array([len(flat.code), *rows.shape, n_classes, learned.size], dtype=np.int64)
        parts = sizes, flat.code, flat.numbers, rows, observed, learned, learned
        data.write_bytes(b"".join(part.tobytes() for part in parts))
        run = subprocess.run([str(driver), str(data)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        found = np.array(run.stdout.split(), dtype=np.int64)
        expected = np.empty((len(rows), n_classes), dtype=np.int64)
        learner.simulator._learn_rows(rows, observed, 0, expected)
        np.testing.assert_array_equal(
            found, np.concatenate([expected.ravel(), learner.simulator.learned.ravel()])
        )
