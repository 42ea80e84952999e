"""What a validator of others says of a copy of an archive: python3 validate_archive.py NAME FOLDER"""

import json
import logging
import os
import sys

logging.disable(logging.WARNING)
os.chdir(sys.argv[2])


def by_frictionless():
    import frictionless

    report = frictionless.Package("datapackage.json").validate()
    return {
        "valid": report.valid,
        "errors": [error for task in report.tasks for error in task.flatten(["type", "note"])],
        "rows": {task.name: task.stats.get("rows") or 0 for task in report.tasks},
    }


def by_croissant():
    import mlcroissant

    dataset = mlcroissant.Dataset("croissant.json")
    pm25 = [row["reading/pm25"] or 0 for row in dataset.records("reading")]
    return {
        "errors": sorted(str(error) for error in dataset.metadata.issues.errors),
        "rows": len(pm25),
        "pm25": round(sum(pm25), 2),
        "files": len(dataset.metadata.file_objects),
    }


print(json.dumps({"frictionless": by_frictionless, "croissant": by_croissant}[sys.argv[1]]()))
