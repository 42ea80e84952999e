import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node'
import { NodeTransport } from '@nats-io/transport-node/lib/node_transport.js'
import { minuteMs } from '../../core/time.ts'
import { MustAct } from '../exit.ts'
import type { Logger } from '../log.ts'
import { quietRepeats } from '../quiet-repeats.ts'
import { type Attempt, denialInWords, natsTrouble } from './nats-trouble.ts'
import { inboxPrefixOf } from './own-inbox.ts'
import { passwordsOf } from './passwords.ts'

export type NatsSettings = Attempt & {
  /** Called with the reason why there is no first connection yet, and with undefined when there is (`process-door.ts`). */
  readonly onTrouble?: ((why: string | undefined) => void) | undefined
}

type ConnectOptions = {
  /** Our name in the server's lists. */
  readonly name: string
  readonly log?: Logger
  /** Ends the wait for a server that does not respond: the call then rejects. */
  readonly stop?: AbortSignal
  /** Rejects at once if no server responds, for a command that a person waits for. */
  readonly once?: boolean
  /** Many clients reconnect at once after an outage: each waits a random time up to this one. */
  readonly jitterMs?: number
  /** Between two tries to connect again. */
  readonly againMs?: number
}

/**
 * At its end the client takes all listeners off its socket. If the server closed the connection at the same
 * moment, the error of a last write arrives afterwards, and an error without a listener ends the process.
 */
// oxlint-disable-next-line typescript/unbound-method -- it is applied to its own transport
const { connect: connectTransport } = NodeTransport.prototype
NodeTransport.prototype.connect = async function connectQuietly(...to) {
  await connectTransport.apply(this, to)
  const { socket } = this
  const removeAll = socket.removeAllListeners.bind(socket)
  socket.removeAllListeners = (event?: string | symbol) =>
    removeAll(event).on('error', () => undefined)
}

/** Between two tries to connect; a refusal and an outage may both end at any time. */
const usualAgainMs = 250
/** The same line is logged once in this time. */
const logEveryMs = minuteMs

/**
 * A connection that waits for the server, at first and whenever it is unavailable: meanwhile requests
 * fail after 1 s, but the connection itself is never given up. The reason is logged at the first
 * failure, then once a minute, and passed to `onTrouble`.
 * @throws MustAct if no address is known
 */
export async function connectNats(
  settings: NatsSettings,
  options: ConnectOptions,
): Promise<NatsConnection> {
  const { log, stop, once = false, jitterMs = 0 } = options
  if (settings.natsUrl === undefined)
    throw new MustAct('there is no NATS to connect to: start `airproof up`, or set NATS_URL')
  const passwords = settings.natsLogin && passwordsOf(settings.natsLogin)
  const connection = connectOptions(settings, options, passwords?.next)
  let triesLeft = passwords?.count() ?? 1
  const repeats = quietRepeats({ most: 1, withinMs: logEveryMs })
  for (;;) {
    stop?.throwIfAborted()
    try {
      const connecting = connect(connection)
      const nc = await (stop ? unlessAborted(connecting, stop) : connecting)
      settings.onTrouble?.(undefined)
      if (log) void logStatus(nc, settings, log)
      return nc
    } catch (error) {
      if (stop?.aborted === true) throw error
      if (once) {
        if (--triesLeft <= 0 || natsTrouble(error, settings).kind !== 'refused') throw error
        continue
      }
      const { words } = natsTrouble(error, settings)
      settings.onTrouble?.(words)
      if (repeats.show(words, performance.now()) !== undefined) log?.warn(words)
      await sleep(usualAgainMs + Math.random() * jitterMs, undefined, {
        ...(stop && { signal: stop }),
      }).catch(() => undefined)
    }
  }
}

function connectOptions(
  { natsUrl = '', natsCreds, natsLogin, natsPinFile }: NatsSettings,
  { name, jitterMs, againMs = usualAgainMs }: ConnectOptions,
  password: (() => string) | undefined,
): NodeConnectionOptions {
  const servers = natsUrl.split(',').map((url) => url.trim())
  const wantsTls = natsPinFile !== undefined || servers.some((url) => url.startsWith('tls:'))
  return {
    servers,
    name,
    // A request in flight when the server dies waits its whole timeout.
    timeout: 1_000,
    maxReconnectAttempts: -1,
    reconnectTimeWait: againMs,
    // Each server of a cluster names all others. The client would try those too, and those that refused
    // it again, so a first connection that all refuse would never end. NATS_URL names every server.
    ignoreClusterUpdates: true,
    // A machine that is gone closes no connection: after two pings without an answer, 10 to 15 s,
    // another server is tried. The client's default is four minutes and more.
    pingInterval: 5_000,
    maxPingOut: 2,
    // A gate that is unavailable looks like a wrong password; the connection must survive that.
    ignoreAuthErrorAbort: true,
    // Stack traces across awaits cost more than a publish.
    noAsyncTraces: true,
    ...(jitterMs === undefined ? {} : { reconnectJitter: jitterMs, reconnectJitterTLS: jitterMs }),
    ...(natsLogin &&
      password && {
        authenticator: usernamePasswordAuthenticator(natsLogin.user, password),
        inboxPrefix: inboxPrefixOf(natsLogin.user),
      }),
    // The client drops the scheme: without this, `tls://` would send the password in the clear to
    // a server without TLS.
    ...(wantsTls && { tls: natsPinFile === undefined ? {} : pinned(natsPinFile) }),
    ...(natsCreds === undefined
      ? {}
      : { authenticator: credsAuthenticator(() => readFileSync(natsCreds)) }),
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
    reject(new Error('stopped before NATS responded'))
    // a connection that succeeds after all is no longer wanted
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
  const repeats = quietRepeats({ most: 1, withinMs: logEveryMs })
  for await (const status of connection.status()) {
    switch (status.type) {
      case 'disconnect':
        log.warn('NATS is unavailable: waiting for it')
        break
      case 'reconnect':
        log.info('NATS is available again')
        break
      case 'error': {
        const words = refusalInWords(status.error, settings)
        // retried four times a second for as long as it lasts
        if (repeats.show(words, performance.now()) !== undefined) log.warn(words)
        break
      }
      case 'slowConsumer':
        log.warn({ pending: status.pending }, 'NATS messages arrive faster than they are handled')
        break
      default:
        log.debug({ status: status.type }, 'NATS connection')
    }
  }
}

const refusalInWords = (error: Error, settings: NatsSettings): string => {
  if (error instanceof AuthorizationError) return natsTrouble(error, settings).words
  return `NATS denied a request: ${denialInWords(error, settings.natsLogin?.user) ?? error.message}`
}
