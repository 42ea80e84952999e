#!/bin/sh
# One reading over MQTT. That it was sent is all that the exit status says: receipt.sh knows more.
# Wants SENSOR_ID, SENSOR_KEY, MQTT_HOST and MQTT_PORT; further options go on to mosquitto_pub,
# for TLS `--cafile ca.pem`.
set -eu
mosquitto_pub -V mqttv311 -h "$MQTT_HOST" -p "$MQTT_PORT" \
  -i "$SENSOR_ID" -u "$SENSOR_ID" -P "$SENSOR_KEY" -q 1 "$@" \
  -t "air/raw/$SENSOR_ID" \
  -m "{\"timestamp\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"pm25\": 45.3, \"pm10\": 78.2}"
