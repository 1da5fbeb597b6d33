"""The notebooks: their cells run, and give what is saved in them."""

import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
NOTEBOOKS = pathlib.Path(__file__).parents[2] / "examples" / "python"


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


@pytest.mark.parametrize("name", ["integral_images", "my_own_detector"])
def test_cells_give_the_saved_outputs(name, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # without the user's start-up files
    file = NOTEBOOKS / f"{name}.ipynb"
    notebook = nbformat.read(file, as_version=4)
    saved = outputs(notebook)
    assert all(pictures == 1 for _, pictures in saved)
    nbclient.NotebookClient(notebook, kernel_name="python3", startup_timeout=600).execute()  # raises what a cell raises
    assert outputs(notebook) == saved, f"run all cells of {file} and save it"
