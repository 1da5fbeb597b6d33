#!/usr/bin/env python3
"""make_inputs.py FOLDER COUNT: writes COUNT small pictures and FOLDER/list.txt with their paths.

There are a hundred different JPEGs; the others are hard links to them, ten thousand in a folder.
"""
import pathlib
import sys

from PIL import Image

KINDS = 100
PER_FOLDER = 10_000


def main() -> None:
    folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    kinds = []
    for k in range(KINDS):
        picture = Image.new("L", (64, 48))
        picture.putdata([(x * k + y * 7) % 256 for y in range(48) for x in range(64)])
        kinds.append(folder / f"kind{k}.jpg")
        picture.save(kinds[-1])
    with open(folder / "list.txt", "w") as paths:
        for i in range(count):
            below = folder / "pictures" / f"{i // PER_FOLDER:03}"
            if i % PER_FOLDER == 0:
                below.mkdir(parents=True)
            path = below / f"{i:07}.jpg"
            path.hardlink_to(kinds[i % KINDS])
            paths.write(f"{path}\n")


main()
