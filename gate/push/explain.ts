/** What `GET /push` answers. */
export const explanation = `\
airproof takes readings here by HTTP, each as the sensor whose credential comes with it.

  POST /push/readings          {"timestamp": "2026-01-31T05:05:00Z", "pm25": 18.5, "pm10": 30,
                                "co2": 455, "temperature": 28.4, "humidity": 72.1}
                               or an array of up to 500; a single one may leave its time to us
  POST /push/bulk              readings of many sensors, each with its sensor_id: a JSON array or a
                               line each, up to 4 MiB (the credential of a gateway)
  POST /push/airrohr           airRohr firmware, "Send data to custom API"
  POST /push/sensor-community  the format of api.sensor.community, with X-PIN
  POST /push/purpleair         PurpleAir, custom data processor
  POST /push/ttn               The Things Stack, webhook (an application's credential)
  POST /push/chirpstack        ChirpStack 4, HTTP integration (an application's credential)

Credential: Authorization: Basic (user = id, password = secret), or Bearer <id>:<secret>, or where
no header can be set, /push/<format>/<id>/<secret>.

202  it is durable: {"stored": n}; what was left out is named under "ignored" or "refused"
400  it can never be accepted: the message names the field; sending it again cannot help
401  no credential, or a wrong, expired or revoked one
403  the credential is right, but there is no such sensor, or it is of another kind
413  more than 128 KiB (bulk: 4 MiB)
429  this sensor sends more often than it may: wait Retry-After seconds
503  not now: send the same again after Retry-After seconds
`
