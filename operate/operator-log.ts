/**
 * What operators do, in stream AUDIT, which keeps the newest 1,000 of each subject for 90 days: from the
 * command line in a subject of its own, from the dashboard's pages in that of the operator's account.
 */
import { hostname, userInfo } from 'node:os'
import { jetstream, jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../core/time.ts'
import { reportBroken, whyOf } from '../runtime/broken.ts'
import { pause } from '../runtime/pause.ts'
import { isServerAway } from '../runtime/server-away.ts'
import { asVersion1 } from '../schemas/formats.ts'
import { auditStream, auditSubject, commandLine } from '../schemas/subjects.ts'
import { listAccounts, openAccountBook } from './account-book.ts'

export type OperatorEntry = {
  /** ISO, by the clock of the machine that did it. */
  readonly at: string
  /** The user and host of the command line; of pages the account's email. */
  readonly who: string
  /** `keys revoke`; of pages `operator_tier_changed`. */
  readonly what: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Of a subject, as the table of streams has it. */
const mostKept = 1_000
/** How long it is tried: the servers of a cluster choose another leader of the stream within seconds. */
const writtenWithinMs = 15 * secondMs
const [tryMs, betweenMs] = [2 * secondMs, 200]

/** Durable when resolved; tried again while the stream does not answer, and until `stop`. */
export async function writeOperatorEntry(
  nc: NatsConnection,
  { at, who, what, details }: OperatorEntry,
  stop: AbortSignal,
): Promise<void> {
  const record = { at, event: what, by: who, details }
  const js = jetstream(nc, { timeout: tryMs })
  const deadlineMs = performance.now() + writtenWithinMs
  for (;;)
    try {
      await js.publish(auditSubject(commandLine), JSON.stringify(record))
      return
    } catch (error) {
      if (!isServerAway(error) || performance.now() > deadlineMs || stop.aborted) throw error
      await pause(betweenMs, stop)
    }
}

/** Who works here: the user and host, also after `sudo`. @param sudoUser what SUDO_USER says */
export function operatorHere(sudoUser?: string): string {
  const { username } = userInfo()
  const user =
    sudoUser === undefined || sudoUser === username ? username : `${sudoUser} as ${username}`
  return `${user}@${hostname()}`
}

/** Newest first: those of the command line, and what accounts that are operators now did on pages. */
export async function readOperatorLog(nc: NatsConnection): Promise<readonly OperatorEntry[]> {
  const accounts = await listAccounts(await openAccountBook(nc))
  const operators = accounts.filter(({ role }) => role === 'operator')
  const emails = new Map(operators.map(({ id, email }) => [id, email]))
  const sources = [commandLine, ...emails.keys()]
  const entries = await Promise.all(
    sources.map(async (id) => once(await readEntries(nc, id, emails.get(id)))),
  )
  return entries.flat().toSorted((a, b) => b.at.localeCompare(a.at))
}

/** One that was tried again after its answer was lost is there twice. */
const once = (entries: readonly OperatorEntry[]): readonly OperatorEntry[] => [
  ...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values(),
]

/** @param email of the account; undefined: the command line */
async function readEntries(
  nc: NatsConnection,
  id: string,
  email: string | undefined,
): Promise<readonly OperatorEntry[]> {
  const messages = await messagesOf(nc, auditSubject(id))
  return messages.flatMap((message) => {
    const entry = parseEntry(message, email)
    return entry === undefined || !(email === undefined || isOperators(entry)) ? [] : [entry]
  })
}

const isOperators = ({ what }: OperatorEntry): boolean => what.startsWith('operator_')

/** As many as the stream keeps of a subject, by one request that leaves nothing on the server. */
async function messagesOf(nc: NatsConnection, subject: string): Promise<readonly StoredMsg[]> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const messages: StoredMsg[] = []
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  await manager.direct.getBatch(auditStream, {
    seq: 1,
    next_by_subj: subject,
    batch: mostKept,
    // if it is iterated instead, the client never ends its subscription
    callback: (done, message) => {
      if (done === null) messages.push(message)
      else if (done.err === undefined) resolve()
      else reject(done.err)
    },
  })
  await ended.catch((error: unknown) => {
    if (!(error instanceof Error && /message not found/i.test(error.message))) throw error
  })
  return messages
}

function parseEntry(
  { seq, subject, data }: StoredMsg,
  email: string | undefined,
): OperatorEntry | undefined {
  const broken = (why: string): undefined => {
    reportBroken({ stream: auditStream, seq, subject, why })
  }
  try {
    const value = asVersion1('audit', JSON.parse(new TextDecoder().decode(data)))
    const { at, event, by, details }: Readonly<Record<string, unknown>> = Object(value)
    if (typeof at !== 'string' || typeof event !== 'string') return broken('it is not an event')
    const who = email ?? (typeof by === 'string' ? by : 'unknown')
    return { at, who, what: event, details: { ...Object(details) } }
  } catch (error) {
    return broken(whyOf(error))
  }
}
