#!/bin/sh
# One reading over MQTT, and the receipt that it is stored, which is printed. It fails when none
# comes within a minute: the reading is kept then, and sent again. The sensor must have asked for
# receipts. Wants SENSOR_ID, SENSOR_KEY, MQTT_HOST and MQTT_PORT.
set -eu
mosquitto_rr -V mqttv311 -h "$MQTT_HOST" -p "$MQTT_PORT" \
  -i "$SENSOR_ID" -u "$SENSOR_ID" -P "$SENSOR_KEY" -q 1 -W 60 "$@" \
  -t "air/raw/$SENSOR_ID" -e "air/ack/$SENSOR_ID" \
  -m "{\"timestamp\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"pm25\": 46.1, \"pm10\": 79.0}"
