"""What an editor shows of the package: docstrings, and the stubs of the extension module."""

import ast
import inspect
import pathlib

import facesat
from facesat import _facesat

STUBS = ast.parse(pathlib.Path(_facesat.__file__).with_name("_facesat.pyi").read_text())


def test_everything_exported_is_documented():
    exported = [getattr(facesat, name) for name in facesat.__all__]
    documented = [one for one in exported if callable(one)]
    assert facesat.cascade_names in documented and facesat.OutOfMemory in documented
    for one in documented:
        assert (inspect.getdoc(one) or "").endswith("."), one


def test_stubs_are_those_of_the_module():
    stubs = {one.name: one for one in STUBS.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
    assert set(stubs) == {name for name in vars(_facesat) if not name.startswith("_")}
    for name, stub in stubs.items():
        text = ast.get_docstring(stub)
        if text:  # after the signature that nanobind adds
            assert (inspect.getdoc(getattr(_facesat, name)) or "").endswith(text)


def test_lists_that_are_empty_without_cuda_say_so():
    for function in (facesat.sat_algorithms, facesat.devices):
        assert "none in builds without CUDA" in function.__doc__
