/** The public keys of a sensor's device, as an operator changes them. */
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso, parseIso } from '../core/iso-time.ts'
import { leaf2Level } from '../core/state/border.ts'
import type { DeviceKey } from '../runtime/device-key.ts'
import { MustAct, WrongUsage } from '../runtime/exit.ts'
import { levelOf } from '../runtime/nats/format-level.ts'
import { aboutNames, mostKeys, type SensorKey } from '../schemas/devices/sensor.ts'
import { buckets } from '../schemas/subjects.ts'
import { systemKeys } from '../schemas/system-keys.ts'

export type NewKey = {
  /** null: the device signs no more; all its keys end. */
  readonly key: DeviceKey | null
  /** The first reading that is signed with it, ms since the epoch. */
  readonly fromMs: number
  /** How much longer the key before it is valid. */
  readonly overlapMs: number
}

const endOf = ({ until }: SensorKey): number => (until === undefined ? Infinity : timeOf(until))

function timeOf(text: string): number {
  const verdict = parseIso(text)
  return 'timeMs' in verdict ? verdict.timeMs : 0
}

/**
 * The keys with a new one, oldest first; the same list if the device has that key already. Of more than
 * eight, the one that ended first is left out: what it signed and was not sent yet is refused from then on.
 * @throws WrongUsage if none of them has ended
 */
export function withNewKey(
  known: readonly SensorKey[],
  { key, fromMs, overlapMs }: NewKey,
  nowMs: number,
): readonly SensorKey[] {
  const isKnown = ({ public_key }: SensorKey): boolean => public_key === key?.publicKey
  if (known.some((one) => isKnown(one) && one.until === undefined)) return known
  const endMs = fromMs + (key === null ? 0 : overlapMs)
  const ended = known.map((one) =>
    endOf(one) <= endMs ? one : { ...one, until: formatIso(Math.max(endMs, timeOf(one.from))) },
  )
  if (key === null) return ended.every((one, i) => one === known[i]) ? known : ended
  const { algorithm, publicKey } = key
  const added = {
    algorithm,
    public_key: publicKey,
    from: formatIso(fromMs),
    added_at: formatIso(nowMs),
  }
  const sorted = byBeginning([...ended, added])
  if (sorted.length <= mostKeys) return sorted
  const first = sorted.toSorted((a, b) => endOf(a) - endOf(b))[0]!
  if (endOf(first) > fromMs)
    throw new WrongUsage(
      `the sensor has ${mostKeys} keys and all are valid at ${formatIso(fromMs)}: end them with --public-key none first`,
    )
  return sorted.filter((one) => one !== first)
}

const byBeginning = (keys: readonly SensorKey[]): readonly SensorKey[] =>
  keys.toSorted((a, b) => timeOf(a.from) - timeOf(b.from))

/**
 * Of a sensor that was retired and comes back: its former keys say who signed its older readings, and
 * ended when it was retired. Of more than eight the newest stay.
 */
export function keysOfReturned(
  former: readonly SensorKey[],
  retiredAt: string,
  keys: readonly SensorKey[],
): readonly SensorKey[] {
  const retiredMs = timeOf(retiredAt)
  const ended = former.map((key) => {
    const endMs = Math.max(timeOf(key.from), Math.min(endOf(key), retiredMs))
    return { ...key, until: formatIso(endMs) }
  })
  return byBeginning([...ended, ...keys]).slice(-mostKeys)
}

async function writtenLevel(nc: NatsConnection): Promise<number> {
  const system = await new Kvm(nc).open(buckets.system)
  return levelOf(await system.get(systemKeys.format))
}

export const maySign = async (nc: NatsConnection): Promise<boolean> =>
  (await writtenLevel(nc)) >= leaf2Level

/** @throws MustAct processes of an older version would not check signatures */
export const assertMaySign = (nc: NatsConnection): Promise<void> =>
  assertLevel3(nc, 'signatures are checked')

/** @throws MustAct to processes of an older version such a sensor would be unknown */
export const assertMayDescribe = (nc: NatsConnection): Promise<void> =>
  assertLevel3(nc, `${aboutNames.join(', ')} are kept`)

async function assertLevel3(nc: NatsConnection, what: string): Promise<void> {
  const level = await writtenLevel(nc)
  if (level < leaf2Level)
    throw new MustAct(
      `${what} from format level ${leaf2Level} on, and this instance writes formats of level ${level}: once every process has the newest version, \`airproof upgrade\` raises it (docs/upgrading.md)`,
    )
}
