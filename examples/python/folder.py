"""The faces in all pictures of a folder, searched at the same time."""

import pathlib
import sys

import facesat


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: folder.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    if not folder.is_dir():
        sys.exit(f"{folder} is not a folder")
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in (".jpg", ".jpeg", ".png"))
    detector = facesat.Detector()
    for file, faces in zip(files, detector.batch(files)):
        if isinstance(faces, facesat.Error):
            print(f"{file.name}: {faces}")
        else:
            print(f"{file.name}: {len(faces)}", *(f"{face.width}x{face.height}" for face in faces))


if __name__ == "__main__":
    main()
