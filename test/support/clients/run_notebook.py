"""Runs a notebook and prints what is in some of its names: python3 run_notebook.py FILE EXPRESSION"""

import sys

import nbformat
from nbclient import NotebookClient

file, expression = sys.argv[1:]
notebook = nbformat.read(file, as_version=4)
nbformat.validate(notebook)
assert all(cell.get("outputs", []) == [] for cell in notebook.cells), "it is committed with outputs"
notebook.cells.append(nbformat.v4.new_code_cell(f"print({expression})"))
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
print(notebook.cells[-1].outputs[0].text, end="")
