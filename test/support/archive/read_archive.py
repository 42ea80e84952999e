"""Reads an archive over HTTP with DuckDB, pandas and pyarrow: python3 read_archive.py URL HTTPFS"""

import io
import json
import sys
import urllib.request

import duckdb
import pandas
import pyarrow.parquet

url, httpfs = sys.argv[1:]


def get(path):
    with urllib.request.urlopen(f"{url}/{path}") as answer:
        return answer.read()


class Remote(io.RawIOBase):
    """A file of which only the ranges that are needed are fetched, all of one version."""

    def __init__(self, path):
        self.address = f"{url}/{path}"
        head = urllib.request.Request(self.address, method="HEAD")
        with urllib.request.urlopen(head) as answer:
            self.size = int(answer.headers["Content-Length"])
            self.tag = answer.headers["ETag"]
        self.at = 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def readinto(self, buffer):
        end = min(self.size, self.at + len(buffer))
        if end <= self.at:
            return 0
        headers = {"Range": f"bytes={self.at}-{end - 1}", "If-Range": self.tag}
        with urllib.request.urlopen(urllib.request.Request(self.address, headers=headers)) as part:
            assert part.status == 206, part.status
            data = part.read()
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


catalogue = json.loads(get("catalogue.json"))
paths = [file["path"] for run in catalogue["runs"] for file in run["files"]]
addresses = [f"{url}/{path}" for path in paths]

frame = pandas.concat([pandas.read_parquet(address) for address in addresses])
by_pandas = {
    "rows": len(frame),
    "pm25": round(float(frame["pm25"].sum()), 2),
    "sensors": int(frame["sensor_id"].nunique()),
    "first": round(frame["timestamp"].min().timestamp() * 1000),
    "last_seq": int(frame["seq"].max()),
    "types": {name: str(frame[name].dtype) for name in ("timestamp", "seq", "pm25")},
}

tables = [pyarrow.parquet.read_table(io.BufferedReader(Remote(path))) for path in paths]
by_pyarrow = {
    "rows": sum(table.num_rows for table in tables),
    "pm25": round(sum(sum(v for v in table["pm25"].to_pylist() if v is not None) for table in tables), 2),
    "types": {field.name: str(field.type) for field in tables[0].schema if field.name in ("timestamp", "seq", "pm25", "area")},
}

db = duckdb.connect()
db.load_extension(httpfs)
rows, pm25, sensors, first, last_seq = db.execute(
    "select count(*), round(sum(pm25), 2), count(distinct sensor_id), epoch_ms(min(timestamp)), max(seq) from read_parquet(?)",
    [addresses],
).fetchone()
days = db.execute(
    "select day, count(*) from read_parquet(?, hive_partitioning = true) group by day order by day",
    [addresses],
).fetchall()
areas = db.execute(
    """select count(*) from read_parquet(?) r asof join read_parquet(?) s
       on r.sensor_id = s.sensor_id and r.timestamp >= s."from" """,
    [addresses, f"{url}/sensors.parquet"],
).fetchone()
by_duckdb = {
    "rows": rows,
    "pm25": pm25,
    "sensors": sensors,
    "first": first,
    "last_seq": last_seq,
    "days": [[int(day), count] for day, count in days],
    "joined": areas[0],
}
print(json.dumps({"pandas": by_pandas, "pyarrow": by_pyarrow, "duckdb": by_duckdb}))
