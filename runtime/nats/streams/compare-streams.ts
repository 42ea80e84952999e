/** How an existing stream differs from the table, and which differences may be changed. */
import { isDeepStrictEqual } from 'node:util'
import { PersistMode, type StreamConfig } from '@nats-io/jetstream'
import type { NamedStream } from './stream-table.ts'

export type Difference = {
  readonly stream: string
  readonly field: keyof StreamConfig
  readonly from: unknown
  readonly to: unknown
  /** undefined: it is changed; else why it stays. */
  readonly stays: string | undefined
}

/** The bounds of a stream; −1 and 0: it has no such bound. */
const bounds = ['max_bytes', 'max_msgs', 'max_msg_size', 'max_age'] as const
type Bound = (typeof bounds)[number]

/** These follow the table. */
const ours = [
  'subjects',
  'description',
  'discard',
  'max_msgs_per_subject',
  'discard_new_per_subject',
  'duplicate_window',
  'allow_direct',
  'allow_atomic',
  'allow_rollup_hdrs',
  'deny_delete',
  'deny_purge',
] as const

/** These stay as they were when the stream was made: the server never changes them. */
const fixed = ['storage', 'retention', 'persist_mode'] as const

/** Such a stream was made for a single server, so that a write need not wait for the disk. */
const notReplicated =
  'the server keeps no copies of a stream whose writes are not synced: it needs a new stream'

/** In the stream's metadata: the bounds that airproof set, to distinguish them from an operator's own. */
const boundsKey = 'airproof_bounds'

export function differencesOf(current: StreamConfig, config: NamedStream): readonly Difference[] {
  const { name: stream } = config
  const differences: Difference[] = []
  const differ = (field: keyof StreamConfig, stays?: string): void => {
    differences.push({ stream, field, from: current[field], to: config[field], stays })
  }
  for (const field of ours)
    if (config[field] !== undefined && !isSame(current[field], config[field])) differ(field)
  const set = boundsSetBy(current)
  for (const field of bounds) {
    const wanted = config[field] ?? 0
    const has = current[field] ?? 0
    if (wanted <= 0 || wanted === has) continue
    const isOurs = has <= 0 || has === set[field]
    differ(field, isOurs ? undefined : 'an operator has chosen it')
  }
  for (const field of fixed)
    if (config[field] !== undefined && (current[field] ?? config[field]) !== config[field])
      differ(field, 'the server cannot change it: it needs a new stream')
  const { num_replicas: replicas = 1 } = config
  if (replicas > current.num_replicas)
    differ('num_replicas', current.persist_mode === PersistMode.Async ? notReplicated : undefined)
  if (replicas < current.num_replicas)
    differ('num_replicas', 'copies are never removed automatically: use `nats stream edit`')
  return differences
}

/** What to change; undefined: nothing. */
export function changesOf(
  current: StreamConfig,
  config: NamedStream,
): Partial<StreamConfig> | undefined {
  const changed = differencesOf(current, config).filter(({ stays }) => stays === undefined)
  const changes = Object.fromEntries(changed.map(({ field, to }) => [field, to]))
  const metadata = { ...current.metadata, ...boundsOf(config, { ...current, ...changes }) }
  const isKnown = current.metadata?.[boundsKey] === metadata[boundsKey]
  return changed.length === 0 && isKnown ? undefined : { ...changes, metadata }
}

/** The configuration to make the stream with. */
export const asMade = (config: NamedStream): NamedStream => ({
  ...config,
  metadata: boundsOf(config, config),
})

/** @param has what the stream has in the end */
function boundsOf(config: NamedStream, has: Partial<StreamConfig>): Record<string, string> {
  const set = bounds.filter((name) => (config[name] ?? 0) > 0 && config[name] === has[name])
  return { [boundsKey]: JSON.stringify(Object.fromEntries(set.map((name) => [name, has[name]]))) }
}

function boundsSetBy({ metadata }: StreamConfig): Partial<Record<Bound, unknown>> {
  try {
    const value: unknown = JSON.parse(metadata?.[boundsKey] ?? '{}')
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

const isSame = (a: unknown, b: unknown): boolean =>
  Array.isArray(a) && Array.isArray(b) ? isDeepStrictEqual(new Set(a), new Set(b)) : a === b

/** For a person. */
export const differenceInWords = ({ stream, field, from, to, stays }: Difference): string =>
  stays === undefined
    ? `${stream}: ${field} ${shown(from)} → ${shown(to)}`
    : `${stream}: ${field} stays ${shown(from)}, though this version makes it ${shown(to)}: ${stays}`

const shown = (value: unknown): string =>
  value === undefined ? 'unset' : typeof value === 'string' ? value : JSON.stringify(value)
