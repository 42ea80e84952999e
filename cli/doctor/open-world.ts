import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { MustAct, TryAgain } from '../../runtime/exit.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import { denialInWords, natsTrouble } from '../../runtime/nats/nats-trouble.ts'
import { bucketStream } from '../../runtime/nats/streams/stream-table.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import type { SettingsSource } from '../../runtime/settings.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { World } from './check.ts'
import { lookAtAll } from './look-at-all.ts'
import { defaultNeedsBytes } from './machine-checks.ts'
import { orLate } from './or-late.ts'

export type WorldOptions = {
  readonly source: SettingsSource
  readonly config: SharedConfig
  readonly stop: AbortSignal
  readonly isWhole?: boolean
  readonly nowMs?: () => number
  readonly needsBytes?: number
}

/** Connects to NATS when the first check needs it, once. */
export function openWorld({
  source,
  config,
  stop,
  isWhole = false,
  nowMs = Date.now,
  needsBytes = defaultNeedsBytes,
}: WorldOptions): World & AsyncDisposable {
  const nats = once(() => connect(config, stop))
  return {
    source,
    config,
    running: readRunningInstance(config.dataFolder),
    nats,
    isMade: once(async () => await hasStreams(await nats())),
    messages: once(async () => await lookAtAll(await nats(), { isWhole, stop })),
    nowMs,
    needsBytes,
    stop,
    [Symbol.asyncDispose]: async () => {
      const nc = await nats().catch(() => undefined)
      // one that hangs would not close either
      if (nc !== undefined) await orLate(nc.close(), 200)
    },
  }
}

async function connect(config: SharedConfig, stop: AbortSignal): Promise<NatsConnection> {
  if (config.natsUrl === undefined) throw new MustAct('NATS_URL is not set, and nothing runs here')
  try {
    return await connectNats(config, { name: 'airproof doctor', once: true, stop })
  } catch (cause) {
    const { kind, words } = natsTrouble(cause, config)
    throw kind === 'refused' ? new MustAct(words, { cause }) : new TryAgain(words, { cause })
  }
}

/** @throws MustAct if this user may not even ask */
async function hasStreams(nc: NatsConnection): Promise<boolean> {
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false })
    await manager.streams.info(bucketStream(buckets.system))
    return true
  } catch (error) {
    if (error instanceof Error && /stream not found|no responders/i.test(error.message))
      return false
    const denied = denialInWords(error, undefined)
    if (denied !== undefined) throw new MustAct(denied, { cause: error })
    throw error
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
