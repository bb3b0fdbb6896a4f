"""Arrays under a checksum: what was altered is never read."""

import numpy as np
import pytest

from solah.scale.sealed import read_sealed, write_sealed

ARRAYS = {"file": np.arange(6.0).reshape(2, 3), "names": np.array(["a", "ß"]), "n": np.array(3)}


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "kept.npz"
    write_sealed(path, ARRAYS, "this")
    return path


def test_arrays_come_back(kept):
    found = read_sealed(kept, "this")
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert read_sealed(kept.with_name("other"), "this") is None


def test_the_same_arrays_make_the_same_file(kept, tmp_path):
    write_sealed(tmp_path / "again", ARRAYS, "this")
    assert (tmp_path / "again").read_bytes() == kept.read_bytes()


def test_every_altered_byte_and_every_cut_is_noticed(kept):
    content = kept.read_bytes()
    for at in range(len(content)):
        flipped = content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :]
        for altered in (flipped, content[:at], content[:at] + content[at + 1 :]):
            kept.write_bytes(altered)
            with pytest.warns(UserWarning, match="altered or cut short since it was written"):
                assert read_sealed(kept, "this") is None
    kept.write_bytes(content + b"\0")
    with pytest.warns(UserWarning, match="altered"):
        assert read_sealed(kept, "this") is None


def test_arrays_of_something_else_are_not_believed(kept):
    with pytest.warns(UserWarning, match="altered"):
        assert read_sealed(kept, "that") is None


def test_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_sealed(tmp_path / "kept.npz", {"a": np.array([None])}, "this")
    assert list(tmp_path.iterdir()) == []
