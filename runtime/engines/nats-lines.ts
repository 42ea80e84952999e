/**
 * Reads nats-server's log, line by line. Clients, signed in or not, choose much of a line: user,
 * client id, name, topic, up to 64 KiB of each. The server quotes these, so a line is read from its
 * start and in its order: text within quotes is never the server's own.
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
  readonly isAboutClient: boolean
  readonly text: string
}

const stamped = /^\[\d+\] \S+ \S+ \[(INF|WRN|ERR|FTL|DBG|TRC)\] (.*)$/s
/** `127.0.0.1:5 - cid:9 - `; MQTT's are `mid`, those over WebSocket `wid`. */
const client = /^\S+ - \w+:\d+ - /
const quoted = '"((?:[^"\\\\]|\\\\.)*)"'

/** `[123] 2026/11/21 08:00:00.000000 [WRN] text`; a line of another form is the last of a dying server. */
function readLine(line: string): Line {
  const [, level = 'INF', text = line] = stamped.exec(line) ?? []
  return { level, isAboutClient: client.test(text), text }
}

/** From then on its streams accept nothing until it is restarted, even when there is space again. */
export function isOutOfSpace(line: string): boolean {
  const { level, isAboutClient, text } = readLine(line)
  if (isAboutClient || !['WRN', 'ERR', 'FTL'].includes(level)) return false
  return /no space left on device$|^JetStream out of \w+ resources/.test(text)
}

/** After the connection: the client's name for itself, if it sends one, and its account and user. */
const violation = new RegExp(
  `^(?:${quoted} - )?${quoted} - (Publish|Subscription) Violation - Subject ${quoted}`,
)

/** `[ERR] 127.0.0.1:5 - cid:9 - "v3:nats.js" - "AIR/user:X" - Publish Violation - Subject "y"` */
export function readDenied(line: string): Denied | undefined {
  const { level, isAboutClient, text } = readLine(line)
  if (level !== 'ERR' || !isAboutClient) return undefined
  const match = violation.exec(text.replace(client, ''))
  if (match === null) return undefined
  const [, , user = '', kind, subject = ''] = match
  const who = user.replace(/^[\w-]+\/(?:user:)?/, '')
  return { who, what: kind === 'Publish' ? 'publish' : 'subscribe', subject }
}

/**
 * Warnings that need no action. Passwords in a file: they are ours, made at random, and the file is
 * 0600. Two lines per stream after the server was killed: it rebuilds its index from the messages,
 * which are all there.
 */
export const isHarmless = (text: string): boolean =>
  text.startsWith('Plaintext passwords detected') ||
  /^Filestore \[\w+\] (Stream state outdated, last block has additional entries, will rebuild|Recovering stream state from index errored: prior state file)$/.test(
    text,
  )

/** A client was refused: the gate logs that with the reason, and counts it. */
const isDeniedSignIn = (text: string): boolean =>
  /^(?:Auth callout service returned an error: sign-in of a sensor|\S+ - \w+:\d+ - .*(?:authentication error$|authentication error - User "))/s.test(
    text,
  ) && !ownUsers.some((user) => text.endsWith(`authentication error - User "${user}"`))

const longestShown = 400
/** A client can cause the same line with each connection, so few are shown. */
const clientLines = { most: 3, withinMs: 10 * minuteMs }

/** Logs lines at our own level of the same severity. Lines that clients cause are rare and shortened. */
export function serverLines(
  log: Logger | undefined,
  nowMs: () => number = () => performance.now(),
): (line: string) => void {
  const repeats = quietRepeats()
  const clientRepeats = quietRepeats(clientLines)
  return (line) => {
    const { level, isAboutClient, text } = readLine(line)
    const shown = text.slice(0, longestShown)
    const weight = weightOf(level, text)
    if (weight === 'debug') return log?.debug(shown)
    const heldBack = (isAboutClient ? clientRepeats : repeats).show(kindOf(shown), nowMs())
    if (heldBack === undefined) return log?.debug(shown)
    log?.[weight](heldBack === 0 ? {} : { notShown: heldBack }, shown)
  }
}

function weightOf(level: string, text: string): 'debug' | 'warn' | 'error' {
  if (['INF', 'DBG', 'TRC'].includes(level) || isHarmless(text) || isDeniedSignIn(text))
    return 'debug'
  return level === 'WRN' ? 'warn' : 'error'
}

/** A line without its quoted texts and numbers; the last quote may be cut off. */
const kindOf = (text: string): string =>
  text.replaceAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)/g, '"…"').replaceAll(/\S*\d\S*/g, '#')
