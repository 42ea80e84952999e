import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node'
import { minuteMs } from '../../core/time.ts'
import { MustAct } from '../exit.ts'
import type { Logger } from '../log.ts'
import { quietRepeats } from '../quiet-repeats.ts'
import { type Attempt, denialInWords, natsTrouble } from './nats-trouble.ts'
import { inboxPrefixOf } from './own-inbox.ts'

export type NatsSettings = Attempt & {
  /** Told why the first connection is not made yet, and undefined when it is (`process-door.ts`). */
  readonly onTrouble?: ((why: string | undefined) => void) | undefined
}

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

/** Between two tries to connect; a refusal and an outage may both end at any time. */
const againMs = 250
/** The same words are logged once in so long. */
const sayEveryMs = minuteMs

/**
 * A connection that waits for the server, at first and whenever it is away: requests meanwhile
 * fail after 1 s, the connection itself is never given up. Why it has to wait is logged at the first
 * failure, then once a minute, and told to `onTrouble`.
 * @throws MustAct where no address is known
 */
export async function connectNats(
  settings: NatsSettings,
  options: ConnectOptions,
): Promise<NatsConnection> {
  const { log, stop, once = false, jitterMs = 0 } = options
  if (settings.natsUrl === undefined)
    throw new MustAct('no NATS to talk to: start `airproof up`, or set NATS_URL')
  const connection = connectOptions(settings, options)
  const repeats = quietRepeats({ most: 1, withinMs: sayEveryMs })
  for (;;) {
    stop?.throwIfAborted()
    try {
      const connecting = connect(connection)
      const nc = await (stop ? unlessAborted(connecting, stop) : connecting)
      settings.onTrouble?.(undefined)
      if (log) void logStatus(nc, settings, log)
      return nc
    } catch (error) {
      if (once || stop?.aborted === true) throw error
      const { words } = natsTrouble(error, settings)
      settings.onTrouble?.(words)
      if (repeats.show(words, performance.now()) !== undefined) log?.warn(words)
      await sleep(againMs + Math.random() * jitterMs, undefined, {
        ...(stop && { signal: stop }),
      }).catch(() => undefined)
    }
  }
}

function connectOptions(
  { natsUrl = '', natsCreds, natsLogin, natsPinFile }: NatsSettings,
  { name, jitterMs }: ConnectOptions,
): NodeConnectionOptions {
  const servers = natsUrl.split(',').map((url) => url.trim())
  const wantsTls = natsPinFile !== undefined || servers.some((url) => url.startsWith('tls:'))
  return {
    servers,
    name,
    // A request in flight when the server dies waits its whole timeout.
    timeout: 1_000,
    maxReconnectAttempts: -1,
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
    // The client drops the scheme: without this, `tls://` would send the password in the clear to
    // a server that speaks no TLS.
    ...(wantsTls && { tls: natsPinFile === undefined ? {} : pinned(natsPinFile) }),
    ...(natsCreds === undefined
      ? {}
      : { authenticator: credsAuthenticator(readFileSync(natsCreds)) }),
  }
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

async function logStatus(
  connection: NatsConnection,
  settings: NatsSettings,
  log: Logger,
): Promise<void> {
  const repeats = quietRepeats({ most: 1, withinMs: sayEveryMs })
  for await (const status of connection.status()) {
    switch (status.type) {
      case 'disconnect':
        log.warn('NATS is away: waiting for it')
        break
      case 'reconnect':
        log.info('NATS is back')
        break
      case 'error': {
        const words = refusalInWords(status.error, settings)
        // tried again four times a second for as long as it lasts
        if (repeats.show(words, performance.now()) !== undefined) log.warn(words)
        break
      }
      case 'slowConsumer':
        log.warn({ pending: status.pending }, 'NATS messages are piling up here')
        break
      default:
        log.debug({ status: status.type }, 'NATS connection')
    }
  }
}

const refusalInWords = (error: Error, settings: NatsSettings): string => {
  if (error instanceof AuthorizationError) return natsTrouble(error, settings).words
  return `NATS refused something: ${denialInWords(error, settings.natsLogin?.user) ?? error.message}`
}
