import type { Transport } from '@influxdata/influxdb-client'
import type { SensorId } from '../../core/air/sensor-id.ts'
import type { UpTo } from '../store.ts'
import { influxFault } from './fault.ts'
import { inParallel } from './in-parallel.ts'

export type Place = {
  readonly transport: Transport
  readonly org: string
  readonly bucket: string
  readonly place: string
}

const requestsAtOnce = 4

type Points = {
  readonly measurement: string
  readonly sensors: readonly SensorId[]
  readonly fromMs: number
  readonly toMs: number
}

/** A predicate knows tags only, so a request for each sensor; not the number of a reading. */
export const influxDelete = (
  place: Place,
  of: readonly UpTo[],
  fromMs: number,
  toMs: number,
): Promise<void> =>
  deletePoints(place, {
    measurement: 'reading',
    sensors: of.map(({ sensor }) => sensor),
    fromMs,
    toMs,
  })

export async function deletePoints(
  { transport, org, bucket, place }: Place,
  { measurement, sensors, fromMs, toMs }: Points,
): Promise<void> {
  const path = `/api/v2/delete?org=${encodeURIComponent(org)}&bucket=${encodeURIComponent(bucket)}`
  // the server counts both ends in
  const [start, stop] = [new Date(fromMs), new Date(toMs - 1)].map((time) => time.toISOString())
  await inParallel(requestsAtOnce, sensors, async (sensor) => {
    const predicate = `_measurement="${measurement}" AND sensor_id=${JSON.stringify(sensor)}`
    try {
      await transport.request(path, { start, stop, predicate }, { method: 'POST' })
    } catch (error) {
      throw influxFault(error, `${place}, bucket ${bucket}`)
    }
  })
}
