import { jetstream } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { seqOf } from '../../core/reading.ts'
import { sensorIdRules } from '../../core/sensor-id.ts'
import { encodeReadings } from '../../schemas/readings-message.ts'
import { logHeaders, readingsSubject } from '../../schemas/subjects.ts'

/** One reading of partition 3 in a message of the log, as its `n`th. @returns the message's sequence */
export async function publishReading(nc: NatsConnection, n: number): Promise<number> {
  const head = headers()
  head.set(logHeaders.worker, 'test')
  const sensor = sensorIdRules().parse('NGR-LOS-YAB-001')
  if (sensor === undefined) throw new Error('no id')
  const timeMs = Date.now() - 1_000
  const values = { pm25: 2_100, pm10: null, co2: null, temperature: 2_900, humidity: null }
  const reading = { sensor, area: 'Yaba', timeMs, arrivedMs: timeMs, ...values, aqi: 70, flags: 0 }
  const body = encodeReadings({
    partition: 3,
    worker: 'test',
    rawLast: n,
    rawLastTimeMs: 0,
    nLast: n,
    lateTo: 0,
    listenedMs: 0,
    readings: [{ ...reading, seq: seqOf(3, n) }],
    events: [],
    held: [],
    deferred: [],
    refused: [],
    duplicates: [],
  })
  const ack = await jetstream(nc).publish(readingsSubject(3), body, {
    headers: head,
    timeout: 2_000,
  })
  return ack.seq
}
