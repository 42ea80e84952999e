"""A sensor over MQTT (paho-mqtt 2). It keeps each reading until a receipt says that it is stored.

Wants SENSOR_ID, SENSOR_KEY and MQTT_URL (mqtt://host:1883, mqtts://host:8883); takes INTERVAL
(seconds, 300) and CA_FILE. The sensor must have asked for receipts.
"""

import json
import os
import random
import time
from collections import deque
from datetime import datetime, timezone
from itertools import islice
from urllib.parse import urlsplit

import paho.mqtt.client as mqtt

SENSOR, KEY = os.environ["SENSOR_ID"], os.environ["SENSOR_KEY"]
BROKER = urlsplit(os.environ["MQTT_URL"])
INTERVAL = float(os.environ.get("INTERVAL", "300"))

# Five weeks of one every five minutes; then the oldest go. A real sensor keeps them on flash.
kept = deque(maxlen=10_000)


def measure():
    """Your sensor's values here; what it does not measure is left out."""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"timestamp": now, "pm25": round(random.uniform(10, 60), 1), "pm10": 78.2}


def send(client):
    """Oldest first, so that one timestamp says what is stored. An array counts as one message."""
    if kept and client.is_connected():
        client.publish(f"air/raw/{SENSOR}", json.dumps(list(islice(kept, 500))))


def on_connect(client, _userdata, _flags, reason, _properties):
    if reason.is_failure:
        print(f"not let in: {reason}", flush=True)
        return
    client.subscribe(f"air/ack/{SENSOR}")
    send(client)


def on_message(_client, _userdata, message):
    receipt = json.loads(message.payload)
    stored_to = receipt["timestamp"] or ""
    # all are UTC in whole seconds: their texts order as their times do
    while kept and kept[0]["timestamp"] <= stored_to:
        kept.popleft()
    print(f"stored up to {stored_to}, {len(kept)} kept", flush=True)


def connect_again(client):
    # after an outage every sensor of the city comes back: not all in the same second
    time.sleep(random.uniform(1, 10))
    try:
        client.reconnect()
    except OSError as error:
        print(f"no way there: {error}", flush=True)


def main():
    client = mqtt.Client(
        mqtt.CallbackAPIVersion.VERSION2, client_id=SENSOR, protocol=mqtt.MQTTv311
    )
    client.username_pw_set(SENSOR, KEY)
    if BROKER.scheme == "mqtts":
        client.tls_set(ca_certs=os.environ.get("CA_FILE"))
    client.on_connect, client.on_message = on_connect, on_message
    client.connect_async(BROKER.hostname, BROKER.port or 1883)
    try:
        client.reconnect()
    except OSError as error:
        print(f"no way there: {error}", flush=True)
    while True:
        kept.append(measure())
        send(client)
        next_at = time.monotonic() + INTERVAL
        while (left := next_at - time.monotonic()) > 0:
            if client.loop(timeout=min(left, 1.0)) != mqtt.MQTT_ERR_SUCCESS:
                connect_again(client)


main()
