import { randomBytes } from 'node:crypto'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { knownLevel, type LevelNow, levelOf, watchFormatLevel } from '../nats/format-level.ts'
import type { StreamOptions } from '../nats/streams/stream-table.ts'
import { needStreams } from '../nats/streams/streams.ts'

type Joining = StreamOptions & {
  /** `pipeline`, `api`, … */
  readonly name: string
  /** Unique among the processes; random by default. */
  readonly id?: string
  /** Ends the process with this error. */
  readonly onFatal?: ((error: unknown) => void) | undefined
}

/**
 * A process's first step on a NATS server. Before it writes anything, it makes sure that it knows
 * every format that the instance writes; it finds the streams and buckets, or makes them; and it
 * reports its own format level for as long as it runs.
 * @throws MustAct if the instance writes newer formats
 * @throws TryAgain if the streams are missing and this user may not make them
 */
export async function joinInstance(
  nc: NatsConnection,
  { name, id = randomBytes(6).toString('hex'), onFatal = () => undefined, ...options }: Joining,
): Promise<LevelNow & AsyncDisposable> {
  await assertKnownLevel(nc)
  await needStreams(nc, options)
  return await watchFormatLevel(nc, { name, id, onTooNew: onFatal })
}

/**
 * Also for a command, which exits before it could report its level.
 * @throws MustAct if the instance writes newer formats than this version knows
 */
export async function assertKnownLevel(nc: NatsConnection): Promise<void> {
  try {
    const system = await new Kvm(nc).open(buckets.system)
    knownLevel(levelOf(await system.get(systemKeys.format)))
  } catch (error) {
    // the instance is new
    if (error instanceof Error && /stream not found/.test(error.message)) return
    throw error
  }
}
