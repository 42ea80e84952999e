"""Runs recipes of a page against an archive: python3 run_recipes.py HTTPFS FILE, of [{"kind": …, "text": …}, …]

Prints how many rows each one found. Those in SQL share a connection, those in Python a namespace."""

import ast
import json
import sys

import duckdb

with open(sys.argv[2], encoding="utf-8") as file:
    recipes = json.load(file)
db = duckdb.connect()
db.load_extension(sys.argv[1])
names = {}
found = []
for recipe in recipes:
    if recipe["kind"] == "sql":
        found.append(len(db.execute(recipe["text"]).df()))
        continue
    exec(compile(recipe["text"], "recipe", "exec"), names)
    assigned = [
        target.id
        for node in ast.parse(recipe["text"]).body
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    found.append(min(len(names[name]) for name in assigned))
print(json.dumps(found))
