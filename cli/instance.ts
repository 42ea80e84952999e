import type { NatsConnection } from '@nats-io/transport-node'
import { readSharedConfig, type SharedConfig } from '../runtime/config.ts'
import { MustAct, TryAgain } from '../runtime/exit.ts'
import { connectNats } from '../runtime/nats.ts'
import type { CommandContext } from './command.ts'

/**
 * Does something with the NATS of the running instance, and closes the connection behind it.
 * @throws MustAct nothing runs, or it holds no data of ours  @throws TryAgain it does not answer
 */
export async function withInstance<T>(
  { env, flags, stop }: Pick<CommandContext, 'env' | 'flags' | 'stop'>,
  use: (nc: NatsConnection, config: SharedConfig) => Promise<T>,
): Promise<T> {
  const config = readSharedConfig({ env, flags })
  const nc = await connectBounded(config, stop)
  try {
    return await use(nc, config)
  } catch (cause) {
    if (!isWithoutData(cause)) throw cause
    throw new MustAct(
      `the NATS at ${config.natsUrl} holds no data of airproof yet: start \`airproof up\` or \`airproof pipeline\` on it once`,
      { cause },
    )
  } finally {
    await nc.close()
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
    if (stop.aborted) throw cause
    throw new TryAgain(
      `NATS at ${config.natsUrl} does not answer: is it running? (\`airproof up\` starts one)`,
      { cause },
    )
  }
}

const isWithoutData = (error: unknown): boolean =>
  error instanceof Error && /stream not found|bucket not found/i.test(error.message)
