"""The integral image of an array that is on a GPU, by each of the published algorithms."""

import cupy  # type: ignore[import-not-found, unused-ignore]
import facesat

RUNS = 20


def main() -> None:
    x = cupy.random.random((4096, 4096), dtype=cupy.float32)
    expected = cupy.cumsum(cupy.cumsum(x, axis=0), axis=1)
    for algorithm in facesat.sat_algorithms():
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        table = facesat.sat(x, algorithm=algorithm)  # the first call allocates
        start.record()
        for _ in range(RUNS):
            table = facesat.sat(x, algorithm=algorithm)
        end.record()
        end.synchronize()
        ms = cupy.cuda.get_elapsed_time(start, end) / RUNS
        print(f"{algorithm}: {ms:.3f} ms, at most {float(abs(table / expected - 1).max()):.1e} from cumsum")


if __name__ == "__main__":
    main()
