"""Uses the client that openapi-python-client has made, and prints what it was told, as JSON."""
import datetime
import json
import sys

from air_client import AuthenticatedClient
from air_client.api.areas import list_areas, show_area
from air_client.api.proofs import verify_reading
from air_client.api.readings import list_readings
from air_client.api.sensors import list_sensors, sensor_status
from air_client.api.webhooks import (
    change_webhook,
    create_webhook,
    delete_webhook,
    list_deliveries,
    list_webhooks,
)
from air_client.models import ListReadingsShape, NewWebhook, ShowAreaInterval, WebhookPatch

base_url, key, free_key, sensor, time = sys.argv[1:6]
client = AuthenticatedClient(base_url=base_url, token=key)
free = AuthenticatedClient(base_url=base_url, token=free_key)
told = {}

page = list_sensors.sync(client=client, area="Ikeja", limit=1)
told["sensors"] = [page.count, page.total, page.sensors[0].id, page.sensors[0].location.lat]
status = sensor_status.sync(sensor, client=client)
told["status"] = [status.sensor_status.value, status.retired, status.latest.measurements.pm25]

told["shapes"] = {}
for shape in (None, ListReadingsShape.FLAT, ListReadingsShape.NESTED):
    arguments = {} if shape is None else {"shape": shape}
    readings = list_readings.sync(client=client, sensor_id=sensor, limit=1, **arguments)
    reading = readings.readings[0]
    told["shapes"]["full" if shape is None else shape.value] = [
        type(readings).__name__,
        reading.pm25 if hasattr(reading, "pm25") else reading.measurements.pm25,
        reading.timestamp.isoformat(),
    ]

told["areas"] = [area.name for area in list_areas.sync(client=client).areas]
area = show_area.sync("Ikeja", client=client, interval=ShowAreaInterval.HOUR)
told["area"] = [area.aqi.max_, area.interval.value, area.series[0].readings]

verified = verify_reading.sync(
    sensor, client=client, timestamp=datetime.datetime.fromisoformat(time)
)
told["verified"] = [verified.status.value, verified.reading.pm25]
told["not_there"] = list_readings.sync(client=client, sensor_id="NGR-LOS-IKJ-999").error.code

wanted = NewWebhook.from_dict(
    {"url": "http://127.0.0.1:9/hook", "events": ["aqi.high"], "filters": {"aqi_threshold": 100.5}}
)
made = create_webhook.sync(client=client, body=wanted).webhook
told["made"] = [made.filters.aqi_threshold, made.armed_now, made.secret[:6]]
patch = WebhookPatch.from_dict({"description": "by a generated client"})
told["changed"] = change_webhook.sync(made.id, client=client, body=patch).webhook.description
told["deliveries"] = list_deliveries.sync(made.id, client=client).count
told["deleted"] = delete_webhook.sync(made.id, client=client).webhook.deleted
told["listed"] = list_webhooks.sync(client=client).count
wrong = create_webhook.sync(client=client, body=NewWebhook.from_dict({"url": "x", "events": []}))
told["wrong"] = sorted(field.field for field in wrong.error.details.fields)

told["not_premium"] = create_webhook.sync(client=free, body=wanted).error.code
for _ in range(200):
    answer = list_webhooks.sync_detailed(client=free)
    if answer.status_code == 429:
        break
told["too_often"] = [answer.parsed.error.code, int(answer.headers["retry-after"]) > 0]
print(json.dumps(told))
