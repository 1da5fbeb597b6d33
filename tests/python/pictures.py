"""Pictures for the tests, which so need no files."""

import numpy as np


def drawn_faces(width, height):
    """Faces that the default cascade finds, next to each other and larger from left to right."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    picture = np.full((height, width), 70.0)

    def blend(value, cx, cy, rx, ry, strength=1.0):
        distance = np.hypot((x - cx) / rx, (y - cy) / ry)
        part = np.clip((1.25 - distance) / 0.25, 0, 1) * strength
        picture[:] += (value - picture) * part

    left = 10
    for radius in range(22, 60, 6):
        cx, cy = left + radius, height / 2
        if cx + radius > width:
            break
        blend(205, cx, cy + 0.05 * radius, 0.85 * radius, 1.1 * radius)
        for side in (-1, 1):
            blend(95, cx + side * 0.37 * radius, cy - 0.36 * radius, 0.27 * radius, 0.06 * radius)
            blend(60, cx + side * 0.37 * radius, cy - 0.18 * radius, 0.22 * radius, 0.09 * radius)
            blend(120, cx + side * 0.1 * radius, cy + 0.3 * radius, 0.06 * radius, 0.05 * radius, 0.6)
        blend(100, cx, cy + 0.62 * radius, 0.33 * radius, 0.07 * radius)
        left += 2 * radius + 10
    return picture.astype(np.uint8)


FACES = drawn_faces(430, 130)
