"""facesat.train and facesat.evaluate."""

import inspect
import os
import signal
import subprocess
import sys
import threading
import warnings

import facesat
import numpy as np
import pytest

WINDOW = (10, 9)
SMALL = {
    "window": WINDOW,
    "stages": 3,
    "false_alarms": 0.3,
    "trees": 4,
    "hit_rate": 0.97,
    "goal": 1e-9,
    "backend": "cpu",
}


def letter(seed):
    """A bright T on a darker, uneven ground."""
    random = np.random.default_rng(seed)
    picture = np.full((9, 10), 60)
    picture[1:3, 1:9] = 150
    x = 3 + random.integers(2)
    picture[1:8, x : x + 2] = 150
    return (picture + random.integers(0, 70, picture.shape)).astype(np.uint8)


def ground(seed):
    noise = np.random.default_rng(seed + 1000).integers(0, 256, (80, 100)).astype(float)
    for axis in (0, 1):
        noise = sum(np.roll(noise, shift, axis) for shift in range(-2, 3)) / 5
    return np.clip((noise - 128) * 4 + 128, 0, 255).astype(np.uint8)


LETTERS = [letter(seed) for seed in range(60)]
GROUNDS = [ground(seed) for seed in range(5)]


def write_pgm(path, picture):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"P5\n%d %d\n255\n" % picture.shape[::-1] + picture.tobytes())


@pytest.fixture()
def folder(tmp_path):
    for number, picture in enumerate(LETTERS):
        write_pgm(tmp_path / "letters" / f"{number:02}.pgm", picture)
    for number, picture in enumerate(GROUNDS):
        write_pgm(tmp_path / "grounds" / f"{number}.pgm", picture)
    return tmp_path


def scene(seed):
    picture = ground(seed)
    picture[30:39, 20:30] = letter(seed + 500)
    return picture


def test_parameters_are_the_options_of_the_library():
    extension = facesat._facesat
    fields = [*extension.sample_fields(), *extension.training_fields(), *extension.backend_fields()]
    parameters = inspect.signature(facesat.train).parameters
    assert set(parameters) == {name for name, *_ in fields} | {"positives", "negatives", "labels", "start", "on_stage"}
    for name, _, _, default, *_ in fields:
        if name == "window":
            assert default == (24, 24) and parameters[name].default == 24
        elif name not in ("device", "sat"):
            assert parameters[name].default == default, name


def test_a_trained_cascade_finds_its_object():
    stages = []
    training = facesat.train(LETTERS, GROUNDS, on_stage=stages.append, **SMALL)
    assert training.ending == "all 3 stages are trained"
    assert [stage.number for stage in training.stages] == [0, 1, 2] and stages == training.stages
    assert all(stage.hit_rate >= 0.97 and 0 < stage.trees <= 4 and stage.seconds > 0 for stage in stages)
    faces = facesat.Detector(training.xml, "cpu", min_neighbors=0)(scene(1))
    assert (20, 30, 10, 9) in [face[:4] for face in faces]


def test_files_and_arrays_give_what_the_program_makes(folder):
    arrays = facesat.train(LETTERS, GROUNDS, mirror=True, **SMALL).xml
    files = facesat.train(folder / "letters", [folder / "grounds"], mirror=True, **SMALL).xml
    assert files == arrays
    line = "train letters --negatives grounds -o t.xml --window 10x9 --mirror --stages 3 --false-alarms 0.3 --trees 4"
    subprocess.run(
        [sys.executable, "-m", "facesat", *line.split(), "--hit-rate", "0.97", "--goal", "1e-9", "--backend", "cpu", "-q"],
        cwd=folder,
        check=True,
    )
    program = (folder / "t.xml").read_bytes()
    assert program[program.index(b"<opencv_storage>") :] == arrays[arrays.index(b"<opencv_storage>") :]


def test_boxes_in_arrays_are_objects_or_left_out():
    scenes = [(scene(seed), [(20, 30, 10, 9)]) for seed in range(30)]
    training = facesat.train(scenes, scenes, **SMALL)
    assert training.stages[0].positives == 27 and training.stages[0].hit_rate == 1


def test_a_training_is_ended_and_gone_on_with(tmp_path):
    ended = facesat.train(LETTERS, GROUNDS, on_stage=lambda stage: stage.number < 1, **SMALL)
    assert len(ended.stages) == 2 and ended.ending == "ended after stage 1"
    ended.save(tmp_path / "two.xml")
    longer = facesat.train(LETTERS, GROUNDS, start=tmp_path / "two.xml", **SMALL)
    assert [stage.number for stage in longer.stages] == [2]
    complete = facesat.train(LETTERS, GROUNDS, start=longer.xml, **SMALL)
    assert complete.stages == [] and complete.xml == longer.xml
    with pytest.raises(ZeroDivisionError):
        facesat.train(LETTERS, GROUNDS, on_stage=lambda stage: 1 / 0, **SMALL)


def test_ctrl_c_ends_a_training(python_takes_ctrl_c):
    # What is both a positive and a negative keeps a stage from its rate for thousands of trees.
    both = list(np.random.default_rng(1).integers(0, 256, (60, 24, 24), np.uint8))
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        facesat.train(both, both + GROUNDS, window=24, hit_rate=1, false_alarms=1e-6, trees=10000, backend="cpu")
    timer.join()


def test_mistakes_are_sentences(folder):
    def refused(positives, negatives, **options):
        with pytest.raises(facesat.Error) as caught:
            facesat.train(positives, negatives, **{**SMALL, **options})
        return str(caught.value)

    assert refused(LETTERS, GROUNDS, hit_rate=2) == "hit_rate: expected a number from 0.5 to 1, not 2"
    assert refused(LETTERS, GROUNDS, depth=1.5) == "depth must be a whole number, not 1.5"
    assert 'must be "haar-basic" or' in refused(LETTERS, GROUNDS, features="hog")
    assert "too few" in refused(LETTERS[:5], GROUNDS)
    assert "no images" in refused(LETTERS, [])
    assert "not a single one" in refused(LETTERS[0], GROUNDS)
    assert "paths or arrays, not both" in refused([LETTERS[0], "letters"], GROUNDS)
    assert "lies outside" in refused([(GROUNDS[0], [(500, 0, 9, 9)])], GROUNDS)
    assert "four whole numbers" in refused([(GROUNDS[0], [(1, 2)])], GROUNDS)
    assert "no such file" in refused(folder / "none", GROUNDS)
    assert "windows of 24x24" in refused(LETTERS, GROUNDS, start="frontalface_default")
    with pytest.raises(TypeError):
        facesat.train(LETTERS, GROUNDS, hitrate=0.9)


def test_what_cannot_be_read_becomes_a_warning(folder):
    (folder / "grounds" / "broken.pgm").write_bytes(b"P5\n99 99\n255\n")
    with pytest.warns(RuntimeWarning, match="broken.pgm"):
        facesat.train(LETTERS, folder / "grounds", **SMALL)


def test_evaluate_counts_what_is_found(folder):
    for number in range(6):
        write_pgm(folder / "test" / f"{number}.pgm", scene(number))
    annotations = folder / "test" / "info.dat"
    annotations.write_text("".join(f"{number}.pgm 1 20 30 10 9\n" for number in range(6)))
    xml = facesat.train(LETTERS, GROUNDS, **SMALL).xml
    result = facesat.evaluate(annotations, [xml, "frontalface_default"], min_neighbors=0, backend="cpu")
    assert (result["pictures"], result["objects"]) == (6, 6)
    mine, faces = result["cascades"]
    assert mine["found"] >= 5 and faces["found"] == 0
    (folder / "mine.xml").write_bytes(xml)
    again = facesat.evaluate(annotations, folder / "mine.xml", min_neighbors=0, backend="cpu")
    assert again["cascades"][0]["curves"] == mine["curves"]

    for wrong in ({"match": "dice"}, {"iou": 2.0}, {"neighbours": 3}, {"min_size": "big"}, {"labels": ["none"]}):
        with pytest.raises(facesat.Error):
            facesat.evaluate(annotations, xml, **wrong)
    with pytest.raises(facesat.CascadeError):
        facesat.evaluate(annotations, "nose_ring")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="gone.pgm"):
            annotations.write_text("0.pgm 1 20 30 10 9\ngone.pgm 1 1 1 9 9\n")
            facesat.evaluate(annotations, xml, backend="cpu")
