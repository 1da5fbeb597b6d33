"""A camera, or a video, with the boxes of faces; q ends it."""

import sys

import cv2
import facesat


def main() -> None:
    source = sys.argv[1] if len(sys.argv) > 1 else "0"
    camera = cv2.VideoCapture(int(source) if source.isdecimal() else source)
    if not camera.isOpened():
        sys.exit(f"{source} cannot be opened")
    detector = facesat.Detector(min_size=40)
    while True:
        is_there, frame = camera.read()
        if not is_there:
            break
        for face in detector(frame):
            cv2.rectangle(frame, (face.x, face.y), (face.x + face.width, face.y + face.height), (0, 255, 0), 2)
        cv2.imshow(f"facesat on {detector.device_name}", frame)
        if cv2.waitKey(1) == ord("q"):
            break


if __name__ == "__main__":
    main()
