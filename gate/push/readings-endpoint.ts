/** `/push/readings`: our own raw shape, one reading or an array, from anything with HTTPS. */

import { type QuantityName, quantityNames } from '../../core/air/quantities.ts'
import { formatIso, parseIso } from '../../core/iso-time.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { numbersAsSent } from '../../schemas/log/number-texts.ts'
import {
  isRawReading,
  maxRawItems,
  type RawReading,
  schemaFault,
} from '../../schemas/log/raw-reading.ts'
import { isObject } from '../devices/mapped.ts'
import { knownSensor } from './device-endpoints.ts'
import type { Endpoint, Judging } from './endpoint.ts'
import { PushError } from './push-error.ts'
import { rangeFault, rawItem, timeFault } from './raw-item.ts'
import { oneJson } from './read-body.ts'

type Options = Judging & { readonly sensorOf: (id: string) => RegisteredSensor | undefined }

/** What is wrong with one of the readings that were sent. */
export type Fault = {
  /** Counted from 0. */
  readonly item: number
  readonly field: string
  readonly code: string
  readonly why: string
}

/** The client can keep what was not stored, so nothing is spooled: the client gets an error. */
export const readingsEndpoint = ({ sensorOf, ...judging }: Options): Endpoint => ({
  name: 'readings',
  caller: 'sensor',
  body: oneJson,
  keeps: false,
  prepare: ({ caller, body, text }) => {
    const sensor = knownSensor(caller, sensorOf)
    const sent = itemsIn(body)
    const exact = sent.some(isSigned) ? [numbersAsSent(text)].flat() : []
    const good: unknown[] = []
    const faults: Fault[] = []
    const isOne = sent.length === 1
    let timestamp: string | undefined
    for (const [item, value] of sent.entries()) {
      const judged = judgeItem(value, sensor, { ...judging, mayLackTime: isOne })
      if ('good' in judged) {
        good.push(isSigned(value) ? exact[item] : judged.good)
        timestamp = judged.good.timestamp
      } else faults.push({ item, ...judged })
    }
    if (good.length === 0) throw allWrong(faults)
    return {
      messages: [
        {
          sender: sensor.id,
          body: JSON.stringify(isOne ? good[0] : good),
          readings: good.length,
        },
      ],
      sensors: [sensor.id],
      answer: {
        ...(isOne && timestamp !== undefined ? { timestamp } : {}),
        ...(faults.length === 0 ? {} : { refused: faults }),
      },
    }
  },
})

export const isSigned = (value: unknown): boolean => isObject(value) && 'sig' in value

/** @throws PushError 400 */
function itemsIn(body: unknown): readonly unknown[] {
  if (!Array.isArray(body)) return [body]
  if (body.length === 0) throw new PushError(400, 'empty', 'the array is empty')
  if (body.length <= maxRawItems) return body
  const message = `${body.length} readings, at most ${maxRawItems}: send smaller arrays`
  throw new PushError(400, 'too_many', message, { details: { most: maxRawItems } })
}

export function judgeItem(
  value: unknown,
  sensor: RegisteredSensor,
  {
    mayLackTime,
    nowMs,
    earliestMs,
    arrival,
  }: Judging & {
    /** Only where there is one: two without a time would get the same. */
    readonly mayLackTime: boolean
  },
): { readonly good: RawReading } | Omit<Fault, 'item'> {
  // what is signed is signed with its time
  const isTimed =
    !mayLackTime || !isObject(value) || isSigned(value) || value['timestamp'] !== undefined
  const item = isTimed
    ? value
    : { ...value, timestamp: formatIso(arrival(sensor.id)), time_assigned: true }
  if (!isRawReading(item)) {
    const { why } = schemaFault()
    return { code: 'schema', field: why.split(' ', 1)[0] ?? '', why }
  }
  const { sensor_id: named, timestamp } = item
  if (named !== undefined && named !== sensor.id)
    return {
      code: 'sensor_mismatch',
      field: 'sensor_id',
      why: `the credential is that of ${sensor.id}`,
    }
  const time = parseIso(timestamp)
  if ('wrong' in time)
    return {
      code: time.wrong === 'no_offset' ? 'no_offset' : 'schema',
      field: 'timestamp',
      why: 'it must be an ISO 8601 date-time with an offset, such as 2026-01-31T05:05:00Z',
    }
  const fields = fieldsOf(item)
  if (Object.keys(fields).length === 0)
    return {
      code: 'out_of_range',
      field: quantityNames.join(', '),
      why: 'there is no value at all',
    }
  const fault = timeFault(time.timeMs, { nowMs: nowMs(), earliestMs, sensor }) ?? rangeFault(fields)
  return fault ?? { good: rawItem(fields, time.timeMs, item.time_assigned === true) }
}

/** As the pipeline reads it: under `measurements` wins. */
function fieldsOf(item: RawReading): { readonly [Name in QuantityName]?: number } {
  const fields: { [Name in QuantityName]?: number } = {}
  for (const name of quantityNames) {
    const value = item.measurements?.[name] ?? item[name]
    if (typeof value === 'number') fields[name] = value
  }
  return fields
}

/** @returns PushError 400: no reading can be taken */
export function allWrong(faults: readonly Fault[]): PushError {
  const [first] = faults
  const reason = first === undefined ? '' : `${first.field}: ${first.why}`
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more; see details)` : ''
  return new PushError(400, first?.code ?? 'schema', `${reason}${more}`, { details: { faults } })
}
