/** `/push/bulk`: readings of many sensors in one body, from a gateway with a credential of its own. */
import { partitionOf } from '../../core/air/sensor-id.ts'
import { leaf2Level } from '../../core/state/border.ts'
import type { LevelNow } from '../../runtime/nats/format-level.ts'
import type { Application } from '../../schemas/devices/application.ts'
import type { RegisteredSensor } from '../../schemas/devices/registered-sensor.ts'
import { numbersAsSent } from '../../schemas/log/number-texts.ts'
import { maxRawBytes, type RawReading } from '../../schemas/log/raw-reading.ts'
import { isObject } from '../devices/mapped.ts'
import type { Endpoint, Judging, Outgoing } from './endpoint.ts'
import type { FloodGuard } from './flood.ts'
import { notNow, PushError } from './push-error.ts'
import { bodyForm } from './read-body.ts'
import { allWrong, type Fault, isSigned, judgeItem } from './readings-endpoint.ts'
import { ofKind } from './uplink-endpoints.ts'

type Options = Judging & {
  readonly applicationOf: (id: string) => Application | undefined
  readonly sensorOf: (id: string) => RegisteredSensor | undefined
  /** Of the sensors whose readings they are. */
  readonly flood: FloodGuard
  readonly level: LevelNow
}

/** Some 25,000 readings. */
const longestBytes = 4 * 1024 * 1024
/** Faults that are named; the others are counted. */
const mostNamed = 1_000
/** Of a raw message: what its readings may bring about fits one message of the log. */
const mostItems = 250
const longestItemBytes = 16 * 1024

/** One reading of the body. */
type Sent = {
  /** Undefined: it is not JSON. */
  readonly value: unknown
  /** The same with its numbers as they were sent. */
  readonly exact: () => unknown
}

type BulkFault = Fault & { readonly sensor_id?: string }
type Judged =
  | { readonly sensor: RegisteredSensor; readonly good: RawReading }
  | Omit<BulkFault, 'item'>

/** Readings that were not stored because their sensor must wait. */
type NotNow = {
  readonly sensor_id: string
  readonly readings: number
  readonly code: string
  readonly why: string
  /** In seconds. */
  readonly retry_after: number
}

/** A reading as it goes into a raw message, with the comma after it. */
type Text = { readonly text: string; readonly bytes: number }
type OfSensor = { readonly texts: Text[]; bytes: number }

/**
 * A gateway keeps what was not stored: an error means that it sends all of it again. What was stored
 * the first time is a duplicate then, and changes nothing.
 */
export const bulkEndpoint = ({
  applicationOf,
  sensorOf,
  flood,
  level,
  ...judging
}: Options): Endpoint => ({
  name: 'bulk',
  caller: 'application',
  body: bodyForm(longestBytes, readingsIn),
  keeps: false,
  prepare: (request) => {
    const application = ofKind(applicationOf(request.caller), 'gateway', request)
    // a pipeline of 0.1 would refuse what has no sensor's subject
    if (level.current() < leaf2Level)
      throw notNow(503, 'upgrading', 'readings in bulk are taken after the upgrade of all', 60)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as this endpoint parses it
    const sent = request.body as readonly Sent[]
    if (sent.length === 0) throw new PushError(400, 'empty', 'there is no reading in it')
    const { good, faults } = sorted(sent, application, { sensorOf, ...judging })
    if (good.size === 0) throw allWrong(faults.slice(0, mostNamed))
    const later = outOfFlood(good, flood)
    return {
      messages: packed(application.id, good),
      // the contact is the gateway's; a note of each would be a write per reading
      sensors: [],
      answer: {
        ...(later.length > 0 && {
          not_now: later.slice(0, mostNamed),
          not_now_count: later.length,
        }),
        ...(faults.length > 0 && {
          refused: faults.slice(0, mostNamed),
          refused_count: faults.length,
        }),
      },
    }
  },
})

function sorted(sent: readonly Sent[], application: Application, known: Known) {
  const good = new Map<string, OfSensor>()
  const faults: BulkFault[] = []
  for (const [item, { value, exact }] of sent.entries()) {
    const judged = judgeOf(value, application, known)
    if ('code' in judged) {
      faults.push({ item, ...judged })
      continue
    }
    const { sensor } = judged
    // the subject names no sensor
    const text = JSON.stringify(
      isSigned(value) ? exact() : { sensor_id: sensor.id, ...judged.good },
    )
    const size = Buffer.byteLength(text) + 1
    if (size > longestItemBytes) faults.push({ item, sensor_id: sensor.id, ...tooLong(size) })
    else {
      const ofSensor = good.get(sensor.id) ?? { texts: [], bytes: 0 }
      ofSensor.texts.push({ text, bytes: size })
      ofSensor.bytes += size
      good.set(sensor.id, ofSensor)
    }
  }
  return { good, faults }
}

/** Takes out the sensors that must wait: one that floods holds no other back. @throws PushError 429 */
function outOfFlood(good: Map<string, OfSensor>, flood: FloodGuard): readonly NotNow[] {
  const later: NotNow[] = []
  let last: unknown
  for (const [id, { texts, bytes }] of good) {
    try {
      flood(id, bytes)
    } catch (thrown) {
      if (!(thrown instanceof PushError)) throw thrown
      last = thrown
      good.delete(id)
      const { code, message: why, headers } = thrown
      const seconds = Number(headers['retry-after'])
      later.push({ sensor_id: id, readings: texts.length, code, why, retry_after: seconds })
    }
  }
  if (good.size === 0) throw last
  return later
}

/** As few raw messages as their bounds allow: each is of one partition. */
function packed(sender: string, good: ReadonlyMap<string, OfSensor>): readonly Outgoing[] {
  const byPartition = Map.groupBy(good, ([id]) => partitionOf(id))
  return [...byPartition].flatMap(([partition, ofPartition]) =>
    inMessages(ofPartition.flatMap(([, { texts }]) => texts)).map((texts) => ({
      sender,
      partition,
      body: `[${texts.map(({ text }) => text).join(',')}]`,
      readings: texts.length,
    })),
  )
}

/** A JSON array, or a line each. A line that is not JSON, such as one cut short, is alone refused. */
function readingsIn(text: string): readonly Sent[] {
  if (/^\s*\[/.test(text)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it begins like one
    const values = JSON.parse(text) as readonly unknown[]
    let exact: readonly unknown[] | undefined
    return values.map((value, i) => ({
      value,
      exact: () => (exact ??= [numbersAsSent(text)].flat())[i],
    }))
  }
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ value: jsonOr(line), exact: () => numbersAsSent(line) }))
}

function jsonOr(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

type Known = Judging & Pick<Options, 'sensorOf'>

function judgeOf(
  value: unknown,
  { id, sensors }: Application,
  { sensorOf, ...judging }: Known,
): Judged {
  if (value === undefined) return { field: '', code: 'not_json', why: 'it is not JSON' }
  const named = isObject(value) ? value['sensor_id'] : undefined
  if (typeof named !== 'string')
    return { field: 'sensor_id', code: 'schema', why: 'each reading names its sensor' }
  const wrong = (code: string, why: string) => ({
    sensor_id: named.slice(0, 64),
    field: 'sensor_id',
    code,
    why,
  })
  if (sensors !== undefined && !sensors.some((start) => named.startsWith(start)))
    return wrong('foreign_sensor', `it is not among the sensors of ${id}`)
  const sensor = sensorOf(named)
  if (sensor === undefined) return wrong('unknown_sensor', 'it is not in the registry')
  const judged = judgeItem(value, sensor, { ...judging, mayLackTime: false })
  return 'good' in judged ? { sensor, good: judged.good } : { sensor_id: sensor.id, ...judged }
}

const tooLong = (bytes: number) => ({
  field: 'the reading',
  code: 'too_large',
  why: `${bytes} bytes, at most ${longestItemBytes}`,
})

function inMessages(texts: readonly Text[]): readonly (readonly Text[])[] {
  const messages: Text[][] = []
  let bytes = 0
  for (const text of texts) {
    const { bytes: size } = text
    const open = messages.at(-1)
    if (open !== undefined && open.length < mostItems && bytes + size < maxRawBytes) {
      open.push(text)
      bytes += size
    } else {
      messages.push([text])
      bytes = size
    }
  }
  return messages
}
