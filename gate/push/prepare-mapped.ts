import { formatIso } from '../../core/iso-time.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { isRefusal, type Mapped, type MappedReading } from '../devices/mapped.ts'
import type { Judging, Prepared } from './endpoint.ts'
import { PushError } from './push-error.ts'
import { type ItemFault, rangeFault, rawItem, timeFault } from './raw-item.ts'

/** @throws PushError 400 where the map refused it */
export function acceptMapped(mapped: Mapped): MappedReading {
  if (isRefusal(mapped)) throw new PushError(400, 'not_understood', mapped.refused)
  return mapped
}

/**
 * @param clock `device`: a time from before there were such sensors means that the clock was
 * never set, so the time of arrival is used instead; `server`: the time is taken as it is
 * @throws PushError 400 where the reading could never be accepted
 */
export function prepareMapped(
  { fields, timeMs: measuredMs, ignored: left }: MappedReading,
  sensor: RegisteredSensor,
  { nowMs, earliestMs, arrival, clock }: Judging & { readonly clock: 'device' | 'server' },
): Prepared {
  if (Object.keys(fields).length === 0)
    return { messages: [], sensors: [], answer: ignoredOf(left) }
  const isUnset = clock === 'device' && measuredMs !== undefined && measuredMs < earliestMs
  const why = `${isUnset ? formatIso(measuredMs) : ''}: the clock was never set, so the time of arrival is used`
  const ignored = isUnset ? [...left, { key: 'time', why }] : left
  const knownMs = isUnset ? undefined : measuredMs
  const timeMs = knownMs ?? arrival(sensor.id)
  const fault = timeFault(timeMs, { nowMs: nowMs(), earliestMs, sensor }) ?? rangeFault(fields)
  if (fault !== undefined) throw wrong(fault)
  const item = rawItem(fields, timeMs, knownMs === undefined)
  const { timestamp, time_assigned } = item
  return {
    messages: [{ sender: sensor.id, body: JSON.stringify(item), readings: 1 }],
    sensors: [sensor.id],
    answer: {
      timestamp,
      ...(time_assigned === true ? { time_assigned } : {}),
      ...ignoredOf(ignored),
    },
  }
}

const ignoredOf = (ignored: MappedReading['ignored']) => (ignored.length === 0 ? {} : { ignored })

const wrong = ({ code, field, why }: ItemFault): PushError =>
  new PushError(400, code, `${field}: ${why}`, { details: { faults: [{ field, code, why }] } })
