import type { NatsConnection } from '@nats-io/transport-node'
import { exitCodes, inWords, MustAct, TryAgain } from '../../runtime/exit.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { connectNats } from '../../runtime/nats/nats.ts'
import {
  asOperator,
  denialInWords,
  natsTrouble,
  shownUrl,
} from '../../runtime/nats/nats-trouble.ts'
import { readSharedConfig, type SharedConfig } from '../../runtime/process/config.ts'
import { assertKnownLevel } from '../../runtime/process/join-instance.ts'
import { orTryAgain } from '../../runtime/server-away.ts'
import type { CommandContext } from './command.ts'
import { entryOf, keepChange, notKept } from './operator-change.ts'
import { supervisorLines } from './status-local.ts'

/**
 * Does something with the NATS of the running instance, and closes the connection after it. A
 * denial by the server ends the command at once, because no answer would arrive.
 * @throws MustAct nothing runs, it holds no data of ours or newer formats, or it refuses us
 * @throws TryAgain it does not answer, or no longer
 */
export async function withInstance<T>(
  { env, flags, stop, change }: Pick<CommandContext, 'env' | 'flags' | 'stop' | 'change'>,
  use: (nc: NatsConnection, config: SharedConfig) => Promise<T>,
): Promise<T> {
  const config = readSharedConfig({ env, flags })
  const nc = await connectBounded(config, stop)
  const keep = async (outcome: string): Promise<void> => {
    if (change) await keepChange(nc, change, { outcome, user: config.natsLogin?.user, stop })
  }
  try {
    const used = assertKnownLevel(nc).then(() => use(nc, config))
    const result = await Promise.race([used, untilDenied(nc)])
    await keep(
      result === undefined || result === exitCodes.done ? 'done' : `exit code ${String(result)}`,
    )
    return result
  } catch (cause) {
    await keep(`failed: ${inWords(cause)}`)
    const denied = denialInWords(cause, config.natsLogin?.user)
    if (denied !== undefined) throw new MustAct(`${denied}: ${asOperator}`, { cause })
    if (!isWithoutData(cause)) throw orTryAgain(cause)
    throw new MustAct(
      `the NATS at ${shownUrl(config.natsUrl ?? '')} holds no data of airproof yet: start \`airproof up\` or \`airproof pipeline\` on it once`,
      { cause },
    )
  } finally {
    await nc.close()
  }
}

/**
 * Does something elsewhere than in NATS, and writes it into the operators' log. Without an instance to
 * write it into, it is done all the same.
 */
export async function withChangeKept<T>(
  context: Pick<CommandContext, 'env' | 'flags' | 'stop' | 'change'>,
  work: () => Promise<T>,
): Promise<T> {
  const { env, flags, stop, change } = context
  const keep = async (outcome: string): Promise<void> => {
    if (change === undefined) return
    try {
      const config = readSharedConfig({ env, flags })
      await using nc = await connectBounded(config, stop)
      await keepChange(nc, change, { outcome, user: config.natsLogin?.user, stop })
    } catch (error) {
      change.note(notKept(entryOf(change, { outcome, user: undefined }), error))
    }
  }
  try {
    const result = await work()
    await keep('done')
    return result
  } catch (cause) {
    await keep(`failed: ${inWords(cause)}`)
    throw cause
  }
}

async function connectBounded(config: SharedConfig, stop: AbortSignal): Promise<NatsConnection> {
  if (config.natsUrl === undefined)
    throw new MustAct(
      `nothing runs on ${config.dataFolder}: start \`airproof up\`, name its folder with --data, or set NATS_URL`,
    )
  try {
    return await connectNats(config, { name: 'airproof command', once: true, stop })
  } catch (cause) {
    stop.throwIfAborted()
    const { kind, words } = natsTrouble(cause, config)
    if (kind === 'refused') throw new MustAct(words, { cause })
    const [gone = '`airproof up` starts one'] = supervisorLines(
      readRunningInstance(config.dataFolder),
    )
    throw new TryAgain(`${words} (${gone})`, { cause })
  }
}

/** Rejects with the first thing that the server denies; else never settles. */
async function untilDenied(nc: NatsConnection): Promise<never> {
  for await (const status of nc.status())
    if (status.type === 'error' && denialInWords(status.error, undefined) !== undefined)
      throw status.error
  return await new Promise<never>(() => undefined)
}

const isWithoutData = (error: unknown): boolean =>
  error instanceof Error && /stream not found|bucket not found/i.test(error.message)
