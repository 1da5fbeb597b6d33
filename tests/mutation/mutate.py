#!/usr/bin/env python3
"""Breaks each rule of detection in turn and checks that a test fails.

usage: mutate.py [NAME...]     all mutations, or those whose description contains a NAME

Works on a copy of the sources under build/mutation. Prints one line per mutation: the test program that
caught it, or SURVIVED. The exit status is the number of survivors.
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build/mutation/sources"
BUILD = ROOT / "build/mutation/build"

# (file, original text, replacement, the rule that it breaks)
MUTATIONS = [
    ("core/rules.hpp", "blue_weight = 3735", "blue_weight = 3736", "grey: weight of blue"),
    ("core/rules.hpp", "gray_half = 1 << (gray_bits - 1)", "gray_half = 0", "grey: rounding"),
    ("core/rules.hpp", "if (value <= darkest)", "if (value < darkest)", "equalisation: the darkest value becomes 0"),
    ("core/rules.hpp", "return static_cast<int>(::lrint(static_cast<double>(value)));", "return static_cast<int>(value);", "rounding to even"),
    ("core/pyramid.cpp", "for (double f = 1.0;", "for (float f = 1.0f;", "scales: the factor grows in f64"),
    ("core/pyramid.cpp", "options.max_size.width == 0 || options", "options.max_size.width == 0 && options",
     "scales: one 0 in the largest size means none"),
    ("core/pyramid.cpp", "size.width > high.width || size", "size.width > high.width && size",
     "scales: either axis above the largest size stops"),
    ("core/pyramid.cpp", "size.width < low.width || size", "size.width < low.width && size",
     "scales: either axis below the smallest size skips"),
    ("core/pyramid.cpp", "if (chosen.empty() && !all.empty())", "if (false)", "scales: the nearest one is kept"),
    ("core/pyramid.cpp", "return static_cast<std::int32_t>(dx * dx + dy * dy);",
     "return static_cast<std::int32_t>(dx * dx);", "scales: distance in both axes"),
    ("core/pyramid.cpp", "scale >= 2 ? 1 : 2", "scale > 3 ? 1 : 2", "levels: step 1 from scale 2"),
    ("core/pyramid.cpp", "scale >= 2 ? 1 : 2", "scale >= 0 ? 1 : 2", "levels: step 2 below scale 2"),
    ("core/pyramid.cpp", "static_cast<float>(image.width) / scale", "static_cast<float>(image.width) / scale + 0.5",
     "levels: size"),
    ("core/pyramid.cpp", "(height / step + stripes - 1) / stripes, 1)", "(height + stripes) / stripes, 1)",
     "levels: the row that belongs to no stripe"),
    ("core/pyramid.cpp", "rules::round_even((position - k) * 256)", "(position - k) * 256", "resize: weights are rounded"),
    ("core/pyramid.cpp", "static_cast<double>(i) + 0.5) - 0.5", "static_cast<double>(i))", "resize: pixel centres"),
    ("core/cpu/gray.cpp", "half = hn::Set(tag, 32768)", "half = hn::Set(tag, 32767)", "resize: rounding"),
    ("core/cpu/integral.cpp", "    s = prefix.last(s);\n", "", "sums: vectors of a row add up"),
    ("core/cpu/integral.cpp", "lane < shift ? 0 : ~0u", "lane <= shift ? 0 : ~0u", "sums: blocks of a vector add up"),
    ("core/cpu/integral.cpp", "right[0] = right[1];", "right[0] = 0;", "tilted sums: cones reach in from column -1"),
    ("core/cpu/integral.cpp", "right[x + 1] - p[x]", "right[x + 1]", "tilted sums: the tip counts once"),
    ("core/cpu/tile.cpp", "sum.row(-1) - 1, squares.data", "sum.row(-1), squares.data", "tiles: where window 0 begins"),
    ("core/cpu/cpu_backend.cpp", "workspace.skips.assign(band.last_row - band.first_row, 0)",
     "workspace.skips.resize(band.last_row - band.first_row)", "bands: nothing is skipped at the beginning of a row"),
    ("core/rules.hpp", "return {1, 1, window.width - 2", "return {0, 0, window.width - 2", "normalisation: which rectangle"),
    ("core/cpu/evaluate_haar.cpp", "hn::Set(tag, rules::low_variance)", "hn::Set(tag, 1e9)", "low-variance windows are rejected"),
    ("core/cpu/evaluate_haar.cpp", "hn::Set(F64(), 0x1p31)", "hn::Set(F64(), 0x1p31 + 1)", "normalisation: sums are whole numbers"),
    ("core/cpu/tile_windows-inl.hpp", "skipped_windows(varied[w] & ~alive[w], skip)", "skipped_windows(~alive[w], skip)",
     "low-variance windows do not let the next one be skipped"),
    ("core/cpu/evaluate_haar.cpp", "left[v] = hn::Lt(value[v]", "left[v] = hn::Le(value[v]", "Haar: left if strictly below"),
    ("core/cpu/evaluate_haar.cpp", "if (q.has_third())", "if (false)", "Haar: the third rectangle"),
    ("core/cpu/haar.hpp", "tilted ? layout.tilted : 0", "0",
     "Haar: tilted features read the tilted table"),
    ("core/rules.hpp", "{r.x + r.width, r.y + r.width}", "{r.x + r.width, r.y + r.height}",
     "Haar: corners of a tilted rectangle"),
    ("core/cpu/compiled.hpp", "double result = 0;", "float result = 0;", "stages: sums in f64"),
    ("core/cpu/compiled.hpp", "{{node.right, node.left}", "{{node.left, node.right}", "trees: which child is left"),
    ("core/cpu/compiled.hpp", "stage.tree_count / 2.0 + 1", "0", "stages: unsure sums are added again in f64"),
    ("core/cpu/tile_windows-inl.hpp", "      alive[w] &= ~skipped;", "", "scan: the skip rule"),
    ("core/cpu/tile_windows-inl.hpp", "(rejected & ~skipped) >> 63", "rejected >> 63", "scan: a skipped window skips nothing"),
    ("core/cpu/tile_windows-inl.hpp", "      if (count - 64 * w < 64) skip =", "      if (false) skip =", "scan: the last window of a tile may skip"),
    ("core/cpu/tile_windows-inl.hpp", "(columns + 1) / 2, to", "columns / 2, to", "patches: the last even column"),
    ("core/cpu/tile_windows-inl.hpp", "  if (tile.tilted)", "  if (false)", "patches: tilted sums are gathered, too"),
    ("core/cpu/tile_windows-inl.hpp", "survivors_[kept++] = group[std::countr_zero(alive)]", "survivors_[kept++] = group[0]",
     "patches: which windows survive"),
    ("core/cpu/evaluate_lbp.cpp", "hn::Lt(block, centre)", "hn::Not(hn::Lt(centre, block))", "LBP: bit if not below the centre"),
    ("core/rules.hpp", "{{0, 0}, {1, 0}, {2, 0}", "{{1, 0}, {0, 0}, {2, 0}", "LBP: order of the bits"),
    ("core/cascade_parser.cpp", "- 1e-5f", "", "cascade: margin of 1e-5"),
    ("core/cascade_parser.cpp", "static_cast<float>(number(node))", "std::nextafterf(static_cast<float>(number(node)), 0)",
     "cascade: decimal to f64 to f32"),
    ("core/cascade_parser.cpp", "for (Node& node : cascade_.nodes) node.left = 0, node.right = -1;",
     "for (Node& node : cascade_.nodes) node.left = -1, node.right = 0;", "cascade: the first leaf of a stump is left"),
    ("core/cascade_parser.cpp", "return cascade_.trees.back().first_leaf + 1 - static_cast<int>(cascade_.leaves.size());", "return 0;",
     "cascade: leaves of the old format"),
    ("core/cascade_parser.cpp", "catch (const NotTheNewFormat&) {", "catch (const NotTheNewFormat&) { throw;",
     "cascade: the format is told by the contents"),
    ("core/cascade_storage.cpp", "static_cast<std::uint32_t>(value));", "std::min<std::int64_t>(value, INT32_MAX));",
     "cascade: integers wrap around in 32 bits"),
    ("core/cascade_storage.cpp", "peek() == '0' ? 8 : 10", "10", "cascade: integers are octal after a 0"),
    ("core/grouping.hpp", "b.height)) / 10;", "b.height)) / 9;", "grouping: eps"),
    ("core/grouping.cpp", "rules::round_even(static_cast<float>(sum) * inverse)", "static_cast<int>(static_cast<float>(sum) * inverse)",
     "grouping: means are rounded"),
    ("core/grouping.cpp", "if (one.count > min_neighbors)", "if (one.count >= min_neighbors)",
     "grouping: more windows than min_neighbors"),
    ("core/grouping.cpp", "outer.neighbors > std::max(3, inner.neighbors) || inner.neighbors < 3",
     "outer.neighbors > inner.neighbors", "grouping: which containing class wins"),
    ("core/grouping.cpp", "std::min(box.width * eps, farthest)", "0", "grouping: margins of containment"),
    ("core/grouping.cpp", "if (is_contained[i] == 0) left.push_back(faces[i])",
     "if (is_contained[by_top[i]] == 0) left.push_back(faces[by_top[i]])", "grouping: faces stay in the order of their first windows"),
    ("core/grouping.cpp", "std::floor(eps * sum * 0.5)", "std::ceil(eps * sum * 0.5)", "grouping: any eps"),
    ("core/rules.hpp", "box.x + box.width < image.width ? box.x + box.width : image.width", "box.x + box.width", "output: clipped to the image"),
    ("core/pyramid.cpp", "return {rules::in_image(x, level.scale),",
     "return {static_cast<int>(static_cast<float>(x) * level.scale),", "output: positions are rounded"),
    ("kernels/cascade/tile.cuh", "if (j + k * rows_at_once >= rows) break", "if (j + k * rows_at_once >= rows - 1) break",
     "kernels: every row of a patch is loaded"),
    ("kernels/cascade/tile.cuh", "rejected & (rejected + 1)", "rejected", "kernels: runs from the tile before are unknown"),
    ("kernels/cascade/evaluate.cu", "thread_] = sum;\n    __syncthreads();", "thread_] = sum;",
     "kernels: a barrier before sums are shared"),
    ("kernels/cascade/evaluate.cu", "__ballot_sync(full_warp, rejected)", "__ballot_sync(full_warp >> 1, rejected)",
     "kernels: a ballot of the whole warp"),
    ("kernels/cascade/few_windows.cu", "!rules::is_skipped_after(run)", "run % 4 != 1", "kernels: the skip rule counts runs"),
    ("kernels/cascade/group_windows.cu", "if (lane_of_thread() == 0) unite(", "if (lane_of_thread() == 32) unite(",
     "kernels: classes that are apart at first are united"),
    ("kernels/cascade/group_windows.cu", "first += 32 * at_once", "first += 64 * at_once",
     "kernels: a window is compared with all earlier ones"),
    ("kernels/cascade/node.cuh", "bits < 0 ? bits ^ INT64_MAX : bits", "bits",
     "kernels: negative sums in f64 are in order"),
    ("kernels/cascade/few_windows.cu", "upper_ += static_cast<unsigned>(value) >> 16", "upper_ += 0",
     "kernels: the upper halves of a sum"),
    ("kernels/cascade/few_windows.cu", "first = min(first, order_of(window))", "first = order_of(window)",
     "kernels: the first one of few windows"),
    ("kernels/cascade/group_windows.cu", "if (own < load_relaxed(first)) atomicMin(first, own);", "",
     "kernels: the first window of a class"),
    ("kernels/cascade/few_windows.cu", "while (unite_roots());", "while (false);", "kernels: classes that meet late are united"),
    ("kernels/image/resize.cu", "+ 32768", "+ 32767", "kernels: a level is rounded half up"),
    ("kernels/image/tilted.cu", "base + running[i] - own[i]", "base + running[i]", "kernels: the tip of a cone counts once"),
    ("kernels/image/gray.cu", "  histogram[thread] = 0;", "", "kernels: the histogram is cleared for the next frame"),
    ("kernels/device/soft_synchronization.cuh", "header->epoch = epoch + 1;", "header->epoch = epoch;", "kernels: look-back words of the last frame are stale"),
    ("kernels/scan/dieguez_2014.cu", "sums[k] = i >= d ?", "sums[k] = i > d ?", "scans: the first element that takes in another one"),
    ("kernels/scan/dieguez_2014.cu", "  __syncthreads();\n    FACESAT_UNROLL", "  FACESAT_UNROLL",
     "scans: all reads of a step come before its writes"),
    ("kernels/scan/dieguez_2014.cu", "if (q + 1 < r) runs =", "if (q + 2 < r) runs =", "scans: every run before counts"),
    ("kernels/scan/register_tile.cuh", "needed = is_done ? ends ^ (ends - 1) : full_warp;", "needed = full_warp;",
     "scans: look-back ends at the first tile that has everything before it"),
    ("kernels/scan/cascade.cuh", "pass.template load_several<width>(range.begin + width * i)",
     "pass.template load_several<width>(range.begin + width * (i + 1))", "scans: a chunk's total has its first elements"),
    ("kernels/scan/register_tile.cuh", "for (int i = number * elements; i", "for (int i = number * elements + 32; i",
     "scans: what a halted block does not publish is computed from all of its elements"),
    ("kernels/sat/lookback.cuh", "Shape::column_at(i % Shape::tile_width)", "i % Shape::tile_width",
     "SATs: what a halted block does not publish is computed for the column that is missing"),
    ("kernels/sat/emoto_2018_skss_lb.cu", "pass.sum_of(left, left + side, 0, top)", "pass.sum_of(left, left + side, 0, top + 1)",
     "SATs: what a halted block does not publish is computed for the L-shape that is missing"),
    ("kernels/scan/maleki_2016_sam.cu", "known = number + 1;", "known = number;", "scans: a block does not add up its own tile twice"),
    ("kernels/scan/maleki_2016_sam.cu", "for (int d = tuple; d < 32", "for (int d = 1; d < 32",
     "scans of tuples: only elements of the same place are combined"),
    ("kernels/scan/maleki_2016_sam.cu", "return has_run() ? sum : pass.op.identity();", "return sum;",
     "scans of tuples: threads without elements add nothing"),
    ("lab/problems/scan.hpp", "k % 2 == 1 ? sum + term", "k % 2 == 0 ? sum + term", "scans of higher orders: differences have both signs"),
    ("kernels/scan/dakkak_2019_tensor.cu", "from < to + (is_inclusive ? 1 : 0)", "from < to + (is_inclusive ? 1 : 1)",
     "scans on tensor cores: exclusive results leave out the element itself"),
    ("kernels/sat/facesat_tensor_cores.cu", "down[i + 2] = down[i] << 6;", "down[i + 2] = down[i] << 5;",
     "SATs on tensor cores: upper digits have their weight"),
    ("kernels/filter/integral_histogram.cu", "full_warp >> (31 - lane_of_thread())", "full_warp >> (32 - lane_of_thread())",
     "integral histograms: a pixel counts itself"),
    ("filters/box_search.hpp", "(greatest_reach - dy) << 8 | (greatest_reach - dx)", "(greatest_reach - dx) << 8 | (greatest_reach - dy)",
     "box search: of equal places the upper one, then the left one"),
    ("kernels/scan/pass.cuh", "const T exclusive = k > 0 ?", "const T exclusive = k > 1 ?", "scans: exclusive results leave out the element itself"),
    ("kernels/scan/recursive.cuh", "element = pass.op(prefix, element);", "element = prefix;", "scans: totals are combined with what is there"),
    ("kernels/tasks/task_array.cuh", "static_cast<unsigned>(column + 1)", "static_cast<unsigned>(column)",
     "task arrays: every finished task is counted"),
    ("kernels/tasks/task_array.cpp", "divide_up(edge.right + 1, edge.up)", "divide_up(edge.right, edge.up)",
     "task arrays: steps come after those that they need"),
    ("kernels/tasks/task_array.cuh", "if (state[k] != inclusive_total) results[k] = read", "if (false) results[k] = read",
     "task arrays: a value that is not there yet is waited for"),
    ("kernels/tasks/knapsack.cu", "is_taken = with > carried.value;", "is_taken = with >= carried.value;",
     "knapsack: equal values leave the item out"),
    ("kernels/tasks/knapsack.cu", "first + 32 * m >= strip - next_weight", "first + 32 * m > strip - next_weight",
     "knapsack: the entries that the next item needs are handed on"),
    ("filters/halftone.hpp", "collected > 0.5f", "collected >= 0.5f", "error diffusion: one half is black"),
    ("kernels/tasks/error_diffusion.cu", "if (is_last) store_window", "if (false) store_window",
     "error diffusion: the last pixels of a row are stored"),
    ("filters/border.hpp", "2 * n - 1 - place", "2 * n - 2 - place", "filters: mirrored borders repeat the edge"),
    ("filters/interval.hpp", "sum.factors[first] -= sign * periods", "sum.factors[first] += sign * periods",
     "filters: reflect-101 has the ends once in each period"),
    ("filters/rounding.hpp", "2 * sum + divisor", "2 * sum", "filters: quotients are rounded half up"),
    ("kernels/filter/facesat_box.cu", "min(first, width - results)", "first", "filters: the last strip of a box ends with the picture"),
    ("kernels/filter/facesat_separable.cu", "(sum + 0x8000) >> 16", "sum >> 16", "filters: dot products are rounded half up"),
    ("kernels/filter/lecture_2d_tiles.cu", "pass.radius);\n  __syncthreads();\n", "pass.radius);\n", "filters: a tile is whole before it is read"),
    ("kernels/tasks/error_diffusion.cu", "delay = lag + 1", "delay = lag", "error diffusion: warps follow each other with a window between"),
]
PROGRAMS = ["facesat_oracle_tests", "facesat_tests"]
KERNEL_PROGRAMS = ["kernels/facesat_simt_tests"]


def programs_for(file):
    is_for_kernels = file.startswith("kernels/") or file == "filters/halftone.hpp"
    return KERNEL_PROGRAMS if is_for_kernels else PROGRAMS


def copy_sources():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, files):
        target = COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    flags = COPY / "CMakeLists.txt"  # a mutation may leave something unused
    flags.write_text(flags.read_text().replace(" -Werror", ""))


def build(programs):
    targets = [program.split("/")[-1] for program in programs]
    return subprocess.run(["ninja", "-C", BUILD, *targets], capture_output=True, text=True)


def caught_by(programs):
    for program in programs:
        done = subprocess.run([BUILD / "tests" / program, "--gtest_fail_fast", "--gtest_brief=1"], capture_output=True, text=True)
        if done.returncode != 0:
            failed = [line.split()[3].rstrip(",") for line in done.stdout.splitlines() if line.startswith("[  FAILED  ] ")]
            return f"{program}: {failed[0] if failed else 'crashed'}"
    return None


def main():
    wanted = [m for m in MUTATIONS if not sys.argv[1:] or any(name in m[3] for name in sys.argv[1:])]
    copy_sources()
    subprocess.run(["cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja"], check=True,
                   stdout=subprocess.DEVNULL)
    survivors = 0
    for file, old, new, rule in wanted:
        path = COPY / file
        text = path.read_text()
        if text.count(old) < 1:
            sys.exit(f"{file} no longer has: {old}")
        path.write_text(text.replace(old, new, 1))
        built = build(programs_for(file))
        if built.returncode != 0:
            sys.exit(f"{rule}: this mutation does not compile\n{built.stdout[-800:]}")
        verdict = caught_by(programs_for(file))
        survivors += verdict is None
        print(f"{rule:58} {verdict or 'SURVIVED'}", flush=True)
        path.write_text(text)
    print(f"{len(wanted)} mutations, {survivors} survived")
    return survivors


if __name__ == "__main__":
    os.environ["PYTHONUNBUFFERED"] = "1"
    sys.exit(main())
