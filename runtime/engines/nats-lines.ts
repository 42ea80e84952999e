/**
 * What nats-server says in its log, line by line. Much of a line is the choice of whoever connects,
 * signed in or not: user, client id, name, topic, up to 64 KiB of each. The server quotes these, so a
 * line is read from its start and in its order: words within quotes are never the server's own.
 */
import { minuteMs } from '../../core/time.ts'
import type { Logger } from '../log.ts'
import { quietRepeats } from '../quiet-repeats.ts'
import { ownUsers } from './nats-users.ts'

export type Denied = {
  /** User over NATS, client id over MQTT. */
  readonly who: string
  readonly what: 'publish' | 'subscribe'
  readonly subject: string
}

type Line = {
  readonly level: string
  /** It is about a client's connection. */
  readonly isOfClient: boolean
  readonly text: string
}

const stamped = /^\[\d+\] \S+ \S+ \[(INF|WRN|ERR|FTL|DBG|TRC)\] (.*)$/s
/** `127.0.0.1:5 - cid:9 - `; MQTT's are `mid`, those over WebSocket `wid`. */
const client = /^\S+ - \w+:\d+ - /
const quoted = '"((?:[^"\\\\]|\\\\.)*)"'

/** `[123] 2026/11/21 08:00:00.000000 [WRN] text`; what has another form is the server's last words. */
function readLine(line: string): Line {
  const [, level = 'INF', text = line] = stamped.exec(line) ?? []
  return { level, isOfClient: client.test(text), text }
}

/** Its streams take nothing from then on, also when there is space again, until it is restarted. */
export function isOutOfSpace(line: string): boolean {
  const { level, isOfClient, text } = readLine(line)
  if (isOfClient || !['WRN', 'ERR', 'FTL'].includes(level)) return false
  return /no space left on device$|^JetStream out of \w+ resources/.test(text)
}

/** After the connection: what the client calls itself, where it says so, and its account and user. */
const violation = new RegExp(
  `^(?:${quoted} - )?${quoted} - (Publish|Subscription) Violation - Subject ${quoted}`,
)

/** `[ERR] 127.0.0.1:5 - cid:9 - "v3:nats.js" - "AIR/user:X" - Publish Violation - Subject "y"` */
export function readDenied(line: string): Denied | undefined {
  const { level, isOfClient, text } = readLine(line)
  if (level !== 'ERR' || !isOfClient) return undefined
  const found = violation.exec(text.replace(client, ''))
  if (found === null) return undefined
  const [, , user = '', kind, subject = ''] = found
  const who = user.replace(/^[\w-]+\/(?:user:)?/, '')
  return { who, what: kind === 'Publish' ? 'publish' : 'subscribe', subject }
}

/**
 * What it warns of though nobody has to do anything. Passwords in a file: they are ours, made at
 * random, and the file is 0600. Two lines for each stream after an end without notice: it makes its
 * index again from the messages, which are all there.
 */
export const isHarmless = (text: string): boolean =>
  text.startsWith('Plaintext passwords detected') ||
  /^Filestore \[\w+\] (Stream state outdated, last block has additional entries, will rebuild|Recovering stream state from index errored: prior state file)$/.test(
    text,
  )

/** A sensor, or a stranger, was not let in: the gate says so, with the reason, and counts it. */
const isDeniedSignIn = (text: string): boolean =>
  /^(?:Auth callout service returned an error: sign-in of a sensor|\S+ - \w+:\d+ - .*(?:authentication error$|authentication error - User "))/s.test(
    text,
  ) && !ownUsers.some((user) => text.endsWith(`authentication error - User "${user}"`))

const longestShown = 400
/** Whoever connects can have the same said of each connection: so often is enough. */
const clientLines = { most: 3, withinMs: 10 * minuteMs }

/** Lines at our level of the same weight. What clients bring about is said seldom, and shortened. */
export function serverLines(
  log: Logger | undefined,
  nowMs: () => number = () => performance.now(),
): (line: string) => void {
  const repeats = quietRepeats()
  const clientRepeats = quietRepeats(clientLines)
  return (line) => {
    const { level, isOfClient, text } = readLine(line)
    const shown = text.slice(0, longestShown)
    const weight = weightOf(level, text)
    if (weight === 'debug') return log?.debug(shown)
    const heldBack = (isOfClient ? clientRepeats : repeats).show(kindOf(shown), nowMs())
    if (heldBack === undefined) return log?.debug(shown)
    log?.[weight](heldBack === 0 ? {} : { notShown: heldBack }, shown)
  }
}

function weightOf(level: string, text: string): 'debug' | 'warn' | 'error' {
  if (['INF', 'DBG', 'TRC'].includes(level) || isHarmless(text) || isDeniedSignIn(text))
    return 'debug'
  return level === 'WRN' ? 'warn' : 'error'
}

/** What a line says, without of whom: quotes may be cut off at the end. */
const kindOf = (text: string): string =>
  text.replaceAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)/g, '"…"').replaceAll(/\S*\d\S*/g, '#')
