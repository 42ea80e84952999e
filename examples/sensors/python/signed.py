"""A sensor that signs its readings (cryptography 41 or later), over HTTP. One reading per run.

Wants SENSOR_ID, SENSOR_KEY and PUSH_URL (http://127.0.0.1:8082); takes KEY_FILE (sensor.key). It makes
its key in that file if there is none. `signed.py --public-key` prints what the registry needs:
npx airproof sensors set ID --public-key "$(python3 signed.py --public-key)" --signature required
"""

import base64
import json
import os
import sys
import time
import urllib.request
from datetime import datetime, timezone

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE = os.environ.get("KEY_FILE", "sensor.key")


def private_key():
    """It never leaves the device: 32 bytes, in a file that nobody else may read."""
    if not os.path.exists(KEY_FILE):
        raw = Ed25519PrivateKey.generate().private_bytes_raw()
        with open(os.open(KEY_FILE, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "wb") as file:
            file.write(raw)
    with open(KEY_FILE, "rb") as file:
        return Ed25519PrivateKey.from_private_bytes(file.read())


def signed_body(key, sensor, time_ms, values):
    """The texts of the numbers are made once: the JSON and what is signed have the same."""
    texts = {name: json.dumps(value) for name, value in values.items()}
    lines = [f"{name}={texts[name]}" for name in sorted(texts)]
    text = "\n".join(["airproof.device.v1", sensor, str(time_ms), *lines])
    at = datetime.fromtimestamp(time_ms // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    sig = base64.b64encode(key.sign(text.encode())).decode()
    fields = ", ".join(f'"{name}": {text}' for name, text in texts.items())
    return f'{{"timestamp": "{at}.{time_ms % 1000:03}Z", {fields}, "sig": "{sig}"}}'


def post(sensor, credential, body):
    request = urllib.request.Request(os.environ["PUSH_URL"] + "/push/readings", body.encode())
    login = base64.b64encode(f"{sensor}:{credential}".encode()).decode()
    request.add_header("Authorization", f"Basic {login}")
    with urllib.request.urlopen(request, timeout=30) as answer:
        print(answer.read().decode(), flush=True)


def main():
    key = private_key()
    if "--public-key" in sys.argv:
        raw = key.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw
        )
        print(base64.b64encode(raw).decode())
        return
    # your sensor's values here; what it does not measure is left out
    values = {"pm25": 45.3, "pm10": 78.2, "temperature": 28.4}
    sensor = os.environ["SENSOR_ID"]
    body = signed_body(key, sensor, time.time_ns() // 1_000_000, values)
    post(sensor, os.environ["SENSOR_KEY"], body)


main()
