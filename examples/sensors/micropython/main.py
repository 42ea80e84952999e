# A sensor over MQTT on MicroPython: `mpremote mip install umqtt.simple`, then copy this to the
# board as main.py, beside a boot.py that joins the network. It keeps each reading until a receipt
# says that it is stored. The sensor must have asked for receipts.
import json
import random
import time

import ntptime
from umqtt.simple import MQTTClient

SENSOR = "NGR-LOS-IKJ-017"
KEY = "aqs_..."
HOST, PORT = "mqtt.example.org", 1883
INTERVAL_S = 300
MOST_KEPT = 500

kept = []


def measure():
    # your sensor's values here; what it does not measure is left out
    year, month, day, hour, minute, second = time.gmtime()[:6]
    now = "%04d-%02d-%02dT%02d:%02d:%02dZ" % (year, month, day, hour, minute, second)
    return {"timestamp": now, "pm25": 45.3, "pm10": 78.2}


def on_receipt(_topic, payload):
    stored_to = json.loads(payload)["timestamp"] or ""
    # all are UTC in whole seconds: their texts order as their times do
    while kept and kept[0]["timestamp"] <= stored_to:
        kept.pop(0)
    print("stored up to", stored_to, "kept", len(kept))


def connected():
    client = MQTTClient(SENSOR, HOST, PORT, user=SENSOR, password=KEY, keepalive=60)
    client.set_callback(on_receipt)
    client.connect()
    client.subscribe("air/ack/" + SENSOR)
    return client


def send(client):
    # oldest first, so that one timestamp says what is stored; an array counts as one message
    if kept:
        client.publish("air/raw/" + SENSOR, json.dumps(kept[:50]))


def work(client):
    while True:
        kept.append(measure())
        if len(kept) > MOST_KEPT:
            kept.pop(0)
        send(client)
        for second in range(INTERVAL_S):
            client.check_msg()
            if second % 30 == 29:
                client.ping()
            time.sleep(1)


def main():
    while True:
        try:
            # without the right time every reading is refused
            ntptime.settime()
            work(connected())
        except Exception as error:
            print("again soon:", error)
            # after an outage every sensor of the city comes back: not all in the same second
            time.sleep(1 + random.getrandbits(4))


main()
