"""A program that used cv2.CascadeClassifier: only the import has changed."""

import sys

import cv2
from facesat import CascadeClassifier, data


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: drop_in.py IN OUT")
    classifier = CascadeClassifier(data.haarcascades + "haarcascade_frontalface_default.xml")
    picture = cv2.imread(sys.argv[1])
    if picture is None:
        sys.exit(f"{sys.argv[1]} cannot be read")
    gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    for x, y, width, height in classifier.detectMultiScale(gray, scaleFactor=1.1, minNeighbors=3):
        print(x, y, width, height)
        cv2.rectangle(picture, (x, y), (x + width, y + height), (0, 255, 0), 2)
    cv2.imwrite(sys.argv[2], picture)


if __name__ == "__main__":
    main()
