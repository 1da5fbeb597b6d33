"""Detection on a Ray cluster: FaceDetector for ray.data's map_batches, and a job, python -m facesat.ray.

    pictures = ray.data.read_binary_files("s3://bucket/photos/", include_paths=True)
    faces = pictures.map_batches(facesat.ray.FaceDetector, concurrency=8, num_cpus=2)

It needs the extra packages of facesat[ray], on every node; `import facesat` alone does not load Ray.
"""

try:
    import fsspec as _fsspec  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError(f"facesat.ray needs Ray (pip install 'facesat[ray]'): {error}") from error

from ._face_detector import FaceDetector

__all__ = ["FaceDetector"]
