/**
 * Where readings are stored: KV `system`, key `store`, without credentials. The pipeline writes it
 * before it writes readings, so every other process and command finds the store that is in use,
 * and a start with another store is noticed.
 */
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { partitionCount } from '../../core/air/sensor-id.ts'
import { asVersion1, NewerFormat } from '../../schemas/formats.ts'
import { buckets, readingsStream, readingsSubject } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { MustAct } from '../exit.ts'
import {
  copyCommand,
  isPlace,
  isSameStore,
  placeInWords,
  placeOf,
  type StorePlace,
  sqliteFileIn,
} from '../machine/store-place.ts'
import { readHeader } from '../nats/log-messages.ts'
import { lastMessage } from '../nats/stored-message.ts'
import type { SharedConfig } from './config.ts'

/** undefined: no pipeline of a version that records it has run. */
export async function readKeptStore(nc: NatsConnection): Promise<StorePlace | undefined> {
  const entry = await (await new Kvm(nc).open(buckets.system)).get(systemKeys.store)
  return entry?.operation === 'PUT' ? parsePlace(entry.string()) : undefined
}

function parsePlace(text: string): StorePlace | undefined {
  try {
    const value = asVersion1('entry', JSON.parse(text), 'KV system, key store')
    return isPlace(value) ? value : undefined
  } catch (error) {
    if (error instanceof NewerFormat) throw error
    return undefined
  }
}

type ClaimOptions = Pick<SharedConfig, 'store' | 'storeChanged' | 'dataFolder'> & {
  /** Whether the file exists and holds readings. */
  readonly hasRows: (sqliteFile: string) => boolean
}

/**
 * Records that readings are stored there from now on.
 * @returns for people, the previous store, if the change was requested
 * @throws MustAct if history would be out of reach
 */
export async function claimStore(
  nc: NatsConnection,
  options: ClaimOptions,
): Promise<string | undefined> {
  const place = placeOf(options.store)
  const recorded = await readKeptStore(nc)
  const former = leftBehind(place, recorded, options)
  const isLost = former !== undefined && (await hasHistory(nc))
  if (isLost && !options.storeChanged)
    throw new MustAct(
      `readings were kept in ${former} until now, but the settings name ${placeInWords(place)}, where their history would be out of reach: ${copyFirst(recorded?.kind ?? 'sqlite', place.kind)}start with INFLUX_URL and AIRPROOF_DATA as they were; or once with --store-changed (AIRPROOF_STORE_CHANGED=1), and history stays in the old store`,
    )
  const text = JSON.stringify(place)
  if (text !== JSON.stringify(recorded))
    await (await new Kvm(nc).open(buckets.system)).put(systemKeys.store, text)
  return isLost ? former : undefined
}

/** Words before another way out; none where nothing can be copied. */
export const copyFirst = (from: StorePlace['kind'], to: StorePlace['kind']): string =>
  from === to ? '' : `run \`${copyCommand(from, to)}\`, then start again; or `

/** For people, the store that `place` would replace; undefined: none, or the same one. */
function leftBehind(
  place: StorePlace,
  kept: StorePlace | undefined,
  { dataFolder, hasRows }: ClaimOptions,
): string | undefined {
  if (JSON.stringify(kept) === JSON.stringify(place)) return undefined
  // a folder that was moved, or restored from a backup, still has its rows
  const isMoved = place.kind === 'sqlite' && kept?.kind !== 'influx' && hasRows(place.file)
  if (isMoved) return undefined
  if (kept !== undefined) return placeInWords(kept)
  // a version that did not record its store has run here
  const file = sqliteFileIn(dataFolder)
  if (place.kind === 'sqlite') return 'another store'
  return hasRows(file) ? placeInWords({ kind: 'sqlite', file }) : undefined
}

/** Whether a reading was ever accepted. */
async function hasHistory(nc: NatsConnection): Promise<boolean> {
  const last = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) =>
      lastMessage(nc, readingsStream, readingsSubject(partition)),
    ),
  )
  return last.some((message) => message && readHeader(message.subject, message.headers).nLast > 0)
}

/**
 * For a process that only reads: its store must be the one that readings are written to. Paths and
 * host names may differ from one machine to another.
 * @throws MustAct
 */
export async function assertKeptStore(
  nc: NatsConnection,
  { store, storeChanged }: Pick<SharedConfig, 'store' | 'storeChanged'>,
): Promise<void> {
  const recorded = await readKeptStore(nc)
  const place = placeOf(store)
  const isSame = recorded === undefined || isSameStore(recorded, place)
  if (isSame || storeChanged) return
  throw new MustAct(
    `readings are kept in ${placeInWords(recorded)}, but this process is configured to read ${placeInWords(place)}: give it the INFLUX_ settings of the pipeline`,
  )
}
