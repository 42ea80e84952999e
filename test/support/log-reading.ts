import type { NatsConnection } from '@nats-io/transport-node'
import { seqOf } from '../../core/air/reading.ts'
import { type SensorId, sensorIdRules } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import { readHeader } from '../../runtime/nats/log-messages.ts'
import { lastMessage } from '../../runtime/nats/stored-message.ts'
import { readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import { commitMessage } from './commit-message.ts'

/** The `n`th reading of partition 3, in a message of the log. @returns the message's sequence */
export async function publishReading(
  nc: NatsConnection,
  n: number,
  sensor: SensorId | undefined = sensorIdRules().parse('NGR-LOS-YAB-001'),
): Promise<number> {
  if (sensor === undefined) throw new Error('no id')
  // one whose response was lost is already there
  const last = await lastMessage(nc, readingsStream, readingsSubject(3))
  if (last !== undefined && readHeader(last.subject, last.headers).nLast === n) return last.seq
  const timeMs = Date.now() - 1_000
  const values = valuesOf({ pm25: 2_100, temperature: 2_900 })
  const reading = { sensor, area: 'Yaba', timeMs, arrivedMs: timeMs, values, aqi: 70, flags: 0 }
  return await commitMessage(nc, {
    partition: 3,
    rawLast: n,
    nLast: n,
    readings: [{ ...reading, seq: seqOf(3, n) }],
  })
}
