import os
import stat

import pytest
from sklearn.datasets import load_iris

from solah import LinguisticTreeClassifier, load_model
from solah.atomic import whole_file
from solah.exceptions import ModelFormatError


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as file:
        file.write("half of the new")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_new_file_obeys_the_umask_and_a_replaced_one_keeps_its_mode(tmp_path):
    path = tmp_path / "model.json"
    umask = os.umask(0o027)
    try:
        with whole_file(path) as file:
            file.write("x")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        with whole_file(path) as file:
            file.write("y")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_broken_file_is_named(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text('{"format": "solah-model"')
    with pytest.raises(ModelFormatError, match=r"^broken.json: the model is not valid JSON"):
        load_model(path)


def test_a_file_over_the_limit_is_not_read_whole(tmp_path):
    path = tmp_path / "model.json"
    LinguisticTreeClassifier(max_depth=1).fit(*load_iris(return_X_y=True)).save(path)
    with pytest.raises(ModelFormatError, match="more than the limit of 100; .*max_bytes"):
        load_model(path, max_bytes=100)
    assert load_model(path).model_.n_rules == 5


def test_a_file_that_is_not_there_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nothing.json")


def test_a_link_stays_and_a_device_is_left_alone(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    with whole_file(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    with pytest.raises(OSError, match="not an ordinary file"), whole_file("/dev/null"):
        pass


def test_a_folder_that_is_not_there_is_named_by_its_target(tmp_path):
    target = tmp_path / "nowhere" / "model.json"
    with pytest.raises(FileNotFoundError, match="nowhere/model.json"), whole_file(target):
        pass


def test_a_model_over_the_usual_limit_is_saved_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr("solah.model.format.MAX_BYTES", 100)
    tree = LinguisticTreeClassifier(max_depth=1).fit(*load_iris(return_X_y=True))
    with pytest.warns(UserWarning, match="load_model needs max_bytes="):
        tree.save(tmp_path / "model.json")
