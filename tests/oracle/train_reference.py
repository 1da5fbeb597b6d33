#!/usr/bin/env python3
"""Makes tests/oracle/train/*.json: what opencv_traincascade trains from the sets of tests/kit/train_sets.hpp.

To be run by hand, as its results are stored; it needs a network, CMake, Ninja, a C++ compiler, half an hour and 1 GB:

    cmake --preset default && ninja -C build/default facesat_train_sets
    tests/oracle/train_reference.py --data $FACESAT_TEST_DATA --work /tmp/traincascade [RUN ...]

A RUN is the beginning of a name, such as "faces-haar"; others keep their stored results. The program is that of OpenCV
3.4.18, the last version with a source package on PyPI; it and the modules it needs are compiled for SSE3 alone, so
that cv::exp is the same on every x86 machine. PATCHES prints more, and initialises a variable that the program does not.

How the program takes samples
  Positives  Every stage starts again at the first sample of the .vec and takes those that pass all earlier stages,
             until it has -numPos; if the file ends before, the program aborts.
  Negatives  Every picture here has the size of the window, so it is one window, as it is: its scale is 1, the resizing
             copies it, and no step in it is left. The pictures are walked in the order of the list and again from its
             start after its end; a stage goes on behind the last picture that the stage before it has looked at. The
             shift of the grid after each pass over the list has no room in such pictures. Those that pass all earlier
             stages are taken, round(numNeg * positives / numPos) of them, unless a stage needs so many pictures that
             its acceptance falls to maxFalseAlarmRate^numStages / maxDepth: then training ends.
  Order      Samples are numbered as they are taken, positives first.

What is stored, a line per run, stage and weak tree
  set        window, numbers of positives and negatives of the set, and its checksum
  arguments  of the program, without files
  end        why there are fewer stages than asked for
  stage      threshold; positives, negatives: the indices of those taken; seen: how many were looked at, in this stage
  tree       samples: how many took part (fewer with trimmed weights); hits, false_alarms: the rates of the stage so
             far, as printed; nodes: left, right, feature (all features of the mode count), threshold or subset, as in
             OpenCV's files: children are nodes if above 0, else leaves; leaves: their values; quality: of each node's
             split; rivals: of each node, other features whose quality, a float, is less than the best one by a factor
             of 1 - 4 * FLT_EPSILON at most: their number, then the first of them. The best one wins, then the lowest
             feature; between rivals, sums in another order may decide otherwise.
"""

import argparse
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.request
import xml.etree.ElementTree

URL = ("https://files.pythonhosted.org/packages/ec/ba/ff6188a17909d6733eb76ac3e5f5257e99ba5b2ef723ed1061dc98426f16/"
       "opencv-python-3.4.18.65.tar.gz")
SHA256 = "0c2d5ebd08420079d6ebdec7a247f0284d403edd87647e9fbcc474c5adcb310b"

# File, a part of it, what is inserted after that part.
PATCHES = [
    ("old_ml_boost.cpp", "boost_type = CvBoost::REAL;", " split_criteria = CvBoost::DEFAULT;"),
    ("cascadeclassifier.cpp", "getcount++;",
     r'fprintf(stderr, "taken %d %d\n", isPositive, (int)consumed - 1);'),
    ("cascadeclassifier.cpp", "minimumAcceptanceRatio, negConsumed );",
     r'fprintf(stderr, "seen %d %d\n", (int)posConsumed, (int)negConsumed);'),
    ("old_ml_tree.cpp", "finder.bestSplit, finder.splitSize );",
     r'''const float best = finder.bestSplit->quality;
        std::vector<int> rivals;
        for (int i = 0; i < data->var_count; ++i) {
            DTreeBestSplitFinder one(this, node);
            one(cv::BlockedRange(i, i + 1));
            if (i != finder.bestSplit->var_idx && one.bestSplit->quality >= best * (1 - 4 * FLT_EPSILON))
                rivals.push_back(i);
        }
        fprintf(stderr, "split %d %d %.9g %d", node->depth, node->sample_count, best, (int)rivals.size());
        for (size_t i = 0; i < rivals.size() && i < 5; ++i) fprintf(stderr, " %d", rivals[i]);
        fprintf(stderr, "\n");'''),
]

MODULES = ["core", "imgproc", "imgcodecs"]
OFF = """BUILD_SHARED_LIBS BUILD_opencv_apps BUILD_TESTS BUILD_PERF_TESTS BUILD_EXAMPLES BUILD_JAVA BUILD_opencv_python2
         BUILD_opencv_python3 WITH_IPP WITH_ITT WITH_OPENCL WITH_CUDA WITH_TBB WITH_LAPACK WITH_EIGEN WITH_PROTOBUF
         WITH_QUIRC WITH_ADE WITH_VA WITH_VA_INTEL WITH_JPEG WITH_PNG WITH_TIFF WITH_WEBP WITH_JASPER WITH_OPENJPEG
         WITH_OPENEXR WITH_GDAL WITH_GTK WITH_FFMPEG WITH_GSTREAMER WITH_V4L WITH_1394 CV_TRACE""".split()


def runs():
    """Yields name and arguments of every run."""
    counts = {"shapes": (200, 200), "faces": (300, 200), "cars": (300, 200)}

    def run(name, features, boosting, stages=3, hits=0.995, false_alarms=0.3, more=()):
        positives, negatives = counts[name.split("-")[0]]
        feature_type, mode = ("LBP", ()) if features == "lbp" else ("HAAR", ("-mode", features.upper()))
        return name, ["-featureType", feature_type, *mode, "-bt", boosting, "-numPos", positives, "-numNeg", negatives,
                      "-numStages", stages, "-minHitRate", hits, "-maxFalseAlarmRate", false_alarms, *more]

    for boosting in ("GAB", "DAB", "RAB", "LB"):
        for set_name in counts:
            for features in ("basic", "lbp"):
                yield run(f"{set_name}-{features}-{boosting}", features, boosting)
        for features in ("basic", "lbp"):
            # With LB, samples at the limit of trimming would have weights that are equal but for the last bits of exp.
            untrimmed = ["-weightTrimRate", 1] if boosting == "LB" else []
            yield run(f"shapes-{features}-{boosting}-depth-3", features, boosting, 2, false_alarms=0.2,
                      more=["-maxDepth", 3, *untrimmed])
            yield run(f"cars-{features}-{boosting}-trim-0.8", features, boosting, 2, 0.999, 0.15,
                      ["-weightTrimRate", 0.8])
        yield run(f"cars-all-{boosting}", "all", boosting, 2)
    yield run("faces-basic-GAB-depth-2", "basic", "GAB", 2, 0.999, 0.1, ["-maxDepth", 2])
    yield run("shapes-core-GAB", "core", "GAB")
    yield run("shapes-all-RAB", "all", "RAB")
    for features in ("basic", "lbp"):
        yield run(f"cars-{features}-GAB-untrimmed", features, "GAB", 2, false_alarms=0.1, more=["-weightTrimRate", 1])
        yield run(f"cars-{features}-GAB-count-2", features, "GAB", 2, 0.999, 0.05, ["-maxWeakCount", 2])


def fetch(work):
    """Returns the folder of OpenCV's sources."""
    archive = work / URL.split("/")[-1]
    if not archive.exists():
        print("fetching", URL)
        urllib.request.urlretrieve(URL, archive)
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{archive} is not the file that is expected")
    folder = work / archive.name.removesuffix(".tar.gz") / "opencv"
    if not folder.exists():
        with tarfile.open(archive) as tar:
            tar.extractall(work)
    return folder


def build(work):
    """Returns the program, compiled with PATCHES."""
    program = work / "opencv_traincascade"
    if program.exists():
        return program
    opencv, objects = fetch(work), work / "build"
    subprocess.run(["cmake", "-S", opencv, "-B", objects, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DBUILD_LIST={','.join(MODULES)}", "-DBUILD_ZLIB=ON", "-DCPU_BASELINE=SSE3", "-DCPU_DISPATCH=",
                    *(f"-D{option}=OFF" for option in OFF)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", objects, *(f"opencv_{module}" for module in MODULES)], check=True)
    sources = work / "traincascade"
    shutil.copytree(opencv / "apps" / "traincascade", sources, dirs_exist_ok=True)
    for name, part, insertion in PATCHES:
        text = (sources / name).read_text()
        assert text.count(part) == 1, (name, part)
        (sources / name).write_text(text.replace(part, part + insertion))
    includes = [opencv / "include", opencv / "include" / "opencv", objects,
                *(opencv / "modules" / module / "include" for module in MODULES)]
    libraries = [objects / "lib" / f"libopencv_{module}.a" for module in reversed(MODULES)]
    subprocess.run(["c++", "-std=c++11", "-O3", "-DNDEBUG", "-D__OPENCV_BUILD", "-w",
                    *(f"-I{folder}" for folder in includes), *sources.glob("*.cpp"), *libraries,
                    objects / "3rdparty" / "lib" / "libzlib.a", "-pthread", "-ldl", "-o", program], check=True)
    return program


def write_sets(program, data, folder):
    """Returns the description of every set by its name; the sets' files are in `folder`."""
    folder.mkdir(exist_ok=True)
    lines = subprocess.run([program, folder, data / "train"], check=True, capture_output=True, text=True).stdout
    sets = {}
    for name, width, height, positives, negatives, checksum in map(str.split, lines.splitlines()):
        sets[name] = {"window": [int(width), int(height)], "positives": int(positives), "negatives": int(negatives),
                      "checksum": checksum}
    return sets


def single(text):
    """A float of 32 bits, with the nine digits that tell all of them apart."""
    return float(f"{float(text):.9g}")


def ranges(indices):
    """The indices as text, such as "0-4,6"."""
    parts = []
    for i in indices:
        if parts and parts[-1][1] == i - 1:
            parts[-1][1] = i
        else:
            parts.append([i, i])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def read_tree(element, splits, categories):
    """A weak tree of a stage's file; takes the lines about its splits from `splits`."""
    numbers = element.findtext("internalNodes").split()
    size = 3 + (8 if categories else 1)
    nodes = []
    for i in range(0, len(numbers), size):
        node = numbers[i:i + size]
        nodes.append([*map(int, node[:3]), *(map(int, node[3:]) if categories else [single(node[3])])])
    quality, rivals, samples = [None] * len(nodes), [None] * len(nodes), None

    def visit(i):  # in the order of training: a node, its left part, its right part
        nonlocal samples
        depth, count, value, *others = next(splits)
        samples = samples or int(count)
        quality[i], rivals[i] = float(value), [int(other) for other in others]
        for child in nodes[i][:2]:
            if child > 0:
                visit(child)

    visit(0)
    return {"samples": samples, "nodes": nodes, "leaves": [single(x) for x in element.findtext("leafValues").split()],
            "quality": quality, "rivals": rivals}


def train(program, folder, name, arguments, about):
    """Returns the results of a run, which is of the set `about` with its files in `folder`."""
    set_name = name.split("-")[0]
    width, height = about["window"]
    result = folder / name
    shutil.rmtree(result, ignore_errors=True)
    result.mkdir()
    files = ["-data", result, "-vec", folder / f"{set_name}.vec", "-bg", folder / f"{set_name}.txt"]
    process = subprocess.run([program, *files, "-w", str(width), "-h", str(height), *map(str, arguments)],
                             check=True, capture_output=True, text=True)
    rates = iter(re.findall(r"^\| +\d+\| *([^ |]+)\| *([^ |]+)\|", process.stdout, re.MULTILINE))
    end = re.search(r"^(.*)Branch training terminated", process.stdout, re.MULTILINE)
    trace = [line.split() for line in process.stderr.splitlines()]
    splits = iter([line[1:] for line in trace if line[0] == "split"])
    taken, first, samples = ([], []), 0, []
    for kind, *numbers in trace:
        if kind == "taken":
            taken[int(numbers[0]) ^ 1].append(int(numbers[1]))
        elif kind == "seen":
            positives, negatives = taken
            samples.append({"positives": ranges(positives),
                            "negatives": ranges([(first + i) % about["negatives"] for i in negatives]),
                            "seen": [int(number) for number in numbers]})
            first += int(numbers[1])
            taken = ([], [])
    stages = []
    while (file := result / f"stage{len(stages)}.xml").exists():
        (stage,) = xml.etree.ElementTree.parse(file).getroot()
        trees = []
        for element in stage.find("weakClassifiers"):
            tree = read_tree(element, splits, "LBP" in arguments)
            hits, false_alarms = next(rates)
            trees.append({"hits": float(hits), "false_alarms": float(false_alarms), **tree})
        stages.append({"threshold": single(stage.findtext("stageThreshold")), **samples[len(stages)], "trees": trees})
    assert not list(splits) and not list(rates) and stages
    return {"name": name, "arguments": " ".join(map(str, arguments)), **({"end": end[1].strip()} if end else {}),
            "stages": stages}


def text_of(value, key=None):
    """The value as JSON: a line per run, stage and tree."""
    if key in ("runs", "stages", "trees"):
        return "[\n" + ",\n".join(text_of(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f'"{k}":{text_of(v, k)}' for k, v in value.items()) + "}"
    return json.dumps(value, separators=(",", ":"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder that FACESAT_TEST_DATA names")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="a folder for the program and its files")
    parser.add_argument("--sets", type=pathlib.Path, default="build/default/tests/facesat_train_sets",
                        help="the program facesat_train_sets")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="the beginning of a run's name (default: all)")
    options = parser.parse_args()
    work, stored = options.work.resolve(), pathlib.Path(__file__).parent / "train"
    work.mkdir(parents=True, exist_ok=True)
    program, folder = build(work), work / "sets"
    sets = write_sets(options.sets, options.data, folder)
    for set_name, about in sets.items():
        file = stored / f"{set_name}.json"
        earlier = {run["name"]: run for run in json.loads(file.read_text())["runs"]} if file.exists() else {}
        results = []
        for name, arguments in sorted(runs()):
            if not name.startswith(set_name):
                continue
            if not options.runs or name.startswith(tuple(options.runs)):
                print(name, flush=True)
                results.append(train(program, folder, name, arguments, about))
            elif name in earlier:
                results.append(earlier[name])
        stored.mkdir(exist_ok=True)
        file.write_text(text_of({**about, "runs": results}) + "\n")


if __name__ == "__main__":
    main()
