import { randomBytes } from 'node:crypto'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { type FormatLevel, newestLevel } from '../../schemas/format-level.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { knownLevel, type LevelNow, levelOf, watchFormatLevel } from '../nats/format-level.ts'
import type { StreamOptions } from '../nats/stream-table.ts'
import { needStreams } from '../nats/streams.ts'

type Joining = StreamOptions & {
  /** `pipeline`, `api`, … */
  readonly name: string
  /** No other process has it; by default one is drawn. */
  readonly id?: string
  /** The newest format level that this process knows. */
  readonly newest?: FormatLevel
  /** Ends the process with this error. */
  readonly onFatal?: ((error: unknown) => void) | undefined
}

/**
 * What a process does first on a NATS server: it makes sure that it knows every format that the
 * instance writes, before it writes anything; finds the streams and buckets, or makes them; and
 * reports what it knows for as long as it runs.
 * @throws MustAct the instance writes newer formats
 * @throws TryAgain the streams are not there, and this user may not make them
 */
export async function joinInstance(
  nc: NatsConnection,
  {
    name,
    id = randomBytes(6).toString('hex'),
    newest = newestLevel,
    onFatal = () => undefined,
    ...options
  }: Joining,
): Promise<LevelNow & AsyncDisposable> {
  await assertKnownLevel(nc, newest)
  await needStreams(nc, { newest, ...options })
  return await watchFormatLevel(nc, { name, id, newest, onTooNew: onFatal })
}

/**
 * Also for a command, which ends before it could say what it knows.
 * @throws MustAct the instance writes newer formats than this version knows
 */
export async function assertKnownLevel(
  nc: NatsConnection,
  newest: FormatLevel = newestLevel,
): Promise<void> {
  try {
    const system = await new Kvm(nc).open(buckets.system)
    knownLevel(levelOf(await system.get(systemKeys.format)), newest)
  } catch (error) {
    // nothing was ever written here
    if (error instanceof Error && /stream not found/.test(error.message)) return
    throw error
  }
}
