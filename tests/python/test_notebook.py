"""The notebook: its cells run, and give what is saved in it."""

import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples" / "python" / "integral_images.ipynb"


def outputs(notebook):
    """What each cell prints, and how many pictures it shows."""
    return [
        (
            "".join(output.text for output in cell.outputs if output.get("name") == "stdout"),
            sum("image/png" in output.get("data", {}) for output in cell.outputs),
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_cells_give_the_saved_outputs(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # without the user's start-up files
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    saved = outputs(notebook)
    assert all(pictures == 1 for _, pictures in saved)
    nbclient.NotebookClient(notebook, kernel_name="python3", startup_timeout=600).execute()  # raises what a cell raises
    assert outputs(notebook) == saved, f"run all cells of {NOTEBOOK} and save it"
