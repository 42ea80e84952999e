import { readFileSync } from 'node:fs'
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import { MustAct } from './exit.ts'
import type { Logger } from './log.ts'
import { inboxPrefixOf } from './own-inbox.ts'

export type NatsSettings = {
  /** One address or several with commas. */
  readonly natsUrl: string | undefined
  readonly natsCreds?: string | undefined
  readonly natsLogin?: NatsLogin | undefined
  /** File of the server's own certificate; its name need not fit, and no other is trusted. */
  readonly natsPinFile?: string | undefined
}

export type NatsLogin = { readonly user: string; readonly password: string }

type ConnectOptions = {
  /** Who we are, in the server's lists. */
  readonly name: string
  readonly log?: Logger
  /** Ends the wait for a server that does not answer: the call then rejects. */
  readonly stop?: AbortSignal
  /** Rejects at once where no server answers, for a command that somebody waits for. */
  readonly once?: boolean
  /** Many come back at once after an outage: each waits up to so much longer. */
  readonly jitterMs?: number
}

/**
 * A connection that waits for the server, at first and whenever it is away: requests meanwhile
 * fail after 1 s, the connection itself is never given up.
 * @throws MustAct where no address is known
 */
export async function connectNats(
  { natsUrl, natsCreds, natsLogin, natsPinFile }: NatsSettings,
  { name, log, stop, once = false, jitterMs }: ConnectOptions,
): Promise<NatsConnection> {
  if (natsUrl === undefined)
    throw new MustAct('no NATS to talk to: start `airproof up`, or set NATS_URL')
  stop?.throwIfAborted()
  const connecting = connect({
    servers: natsUrl.split(',').map((url) => url.trim()),
    name,
    // A request in flight when the server dies waits its whole timeout.
    timeout: 1_000,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: !once,
    reconnectTimeWait: 250,
    // A gate that is away looks like a wrong password; the connection must outlive it.
    ignoreAuthErrorAbort: true,
    // Stack traces across awaits cost more than a publish.
    noAsyncTraces: true,
    ...(jitterMs === undefined ? {} : { reconnectJitter: jitterMs, reconnectJitterTLS: jitterMs }),
    ...(natsLogin && {
      user: natsLogin.user,
      pass: natsLogin.password,
      inboxPrefix: inboxPrefixOf(natsLogin.user),
    }),
    ...(natsPinFile !== undefined && { tls: pinned(natsPinFile) }),
    ...(natsCreds === undefined
      ? {}
      : { authenticator: credsAuthenticator(readFileSync(natsCreds)) }),
  })
  const connection = await (stop ? unlessAborted(connecting, stop) : connecting)
  if (log) void logStatus(connection, log)
  return connection
}

/** Read again at each connect, so that a renewed certificate is trusted as soon as it is used. */
const pinned = (caFile: string) => ({
  caFile,
  allowPartialTrustChain: true,
  checkServerIdentity: () => undefined,
})

/** The promise's value, or the signal's reason as soon as it is aborted. */
async function unlessAborted(
  connecting: Promise<NatsConnection>,
  stop: AbortSignal,
): Promise<NatsConnection> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const giveUp = (): void => {
    reject(new Error('stopped before NATS answered'))
    // One that succeeds after all is not ours any more.
    connecting.then(
      (connection) => connection.close(),
      () => undefined,
    )
  }
  stop.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([connecting, aborted])
  } finally {
    stop.removeEventListener('abort', giveUp)
  }
}

async function logStatus(connection: NatsConnection, log: Logger): Promise<void> {
  for await (const status of connection.status()) {
    switch (status.type) {
      case 'disconnect':
        log.warn('NATS is away: waiting for it')
        break
      case 'reconnect':
        log.info('NATS is back')
        break
      case 'error':
        log.warn({ err: status.error }, 'NATS refused something')
        break
      case 'slowConsumer':
        log.warn({ pending: status.pending }, 'NATS messages are piling up here')
        break
      default:
        log.debug({ status: status.type }, 'NATS connection')
    }
  }
}
