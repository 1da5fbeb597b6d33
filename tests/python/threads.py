"""Many threads that share one object."""

from concurrent.futures import ThreadPoolExecutor


def assert_same_in_threads(call, images, rounds, threads=8):
    """Threads call one function with images in turn; each result must be the one of a single thread."""
    expected = [call(image) for image in images]

    def work(first):
        for i in range(first, first + rounds):
            assert call(images[i % len(images)]) == expected[i % len(images)]

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))  # raises what a thread raises
