import type { NatsConnection } from '@nats-io/transport-node'
import { type Broken, onBroken } from '../../runtime/broken.ts'
import { exitCodes } from '../../runtime/exit.ts'
import { watchBucket } from '../../runtime/nats/watched-bucket.ts'
import { buckets } from '../../schemas/subjects.ts'
import type { Command } from '../shell/command.ts'
import { withInstance } from '../shell/instance.ts'
import { tableLines } from '../shell/table.ts'
import { exactWords } from '../shell/words.ts'
import { type Looked, lookAtStreams } from './doctor-streams.ts'

export const command: Command = {
  summary: 'what is broken: messages and entries that cannot be read, and the way out',
  help: `\
usage: airproof doctor [--json]

Looks at the messages of every stream and the entries of every bucket, and lists those that cannot
be read: written by something else, or damaged. Every process passes over them; this names them. It
changes nothing, and ends with 0 when all is well, else with 1.

  --json   the same as JSON

examples:
  npx airproof doctor
  npx airproof doctor --json | jq -r '.broken[] | "\\(.stream) \\(.seq) \\(.why)"'`,
  options: { json: { type: 'boolean' } },
  run: async (context) => {
    exactWords(context.words)
    return await withInstance(context, async (nc) => {
      const report = await examine(nc, context.stop)
      if (context.flags['json'] === true) context.print(JSON.stringify(report))
      else for (const line of linesOf(report)) context.print(line)
      return report.broken.length === 0 ? exitCodes.done : exitCodes.mustAct
    })
  },
}

type Report = {
  readonly broken: readonly Broken[]
  readonly streams: readonly Looked[]
  /** Buckets that were looked at, and those that were not read in time. */
  readonly buckets: { readonly looked: readonly string[]; readonly closed: readonly string[] }
}

/** A bucket that we may not read gives no answer. */
const bucketWithinMs = 10_000

async function examine(nc: NatsConnection, stop: AbortSignal): Promise<Report> {
  const reported = new Map<string, Broken>()
  const stopListening = onBroken((entry) => {
    reported.set(`${entry.stream} ${entry.seq} ${entry.subject}`, entry)
  }, true)
  try {
    const streams = await lookAtStreams(nc, stop)
    const names = Object.values(buckets)
    const isOpen = await Promise.all(names.map((name) => lookAtBucket(nc, name)))
    return {
      broken: [...reported.values()].toSorted(
        (a, b) => a.stream.localeCompare(b.stream) || a.seq - b.seq,
      ),
      streams,
      buckets: {
        looked: names.filter((_, at) => isOpen[at]),
        closed: names.filter((_, at) => !isOpen[at]),
      },
    }
  } finally {
    stopListening()
  }
}

/** The reader of an entry reports it where it cannot be parsed. */
async function lookAtBucket(nc: NatsConnection, name: string): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), bucketWithinMs)
  const looking = (async () => {
    await using _ = await watchBucket(nc, name, () => undefined, { isReadOnly: true })
    return true
  })().catch(() => false)
  try {
    return await Promise.race([looking, late])
  } finally {
    clearTimeout(timer)
  }
}

/** More rows than this show nothing new. */
const mostShown = 20

function linesOf({ broken, streams, buckets: { looked, closed } }: Report): readonly string[] {
  const total = streams.reduce((sum, { messages }) => sum + messages, 0)
  const partial = streams.filter(({ left }) => left > 0)
  const notes = [
    ...partial.map(({ stream, left }) => `${stream}: the ${left} oldest messages were not checked`),
    ...(closed.length > 0
      ? [
          `not checked, because they were not read within 10 s (this user may not, or they hold too much): ${closed.join(', ')}`,
        ]
      : []),
  ]
  const seen = `${total} messages of ${streams.length} streams and ${looked.length} buckets`
  if (broken.length === 0) return [`all is well: ${seen} can be read`, ...notes]
  const rows = broken
    .slice(0, mostShown)
    .map(({ stream, seq, subject, why }) => [stream, String(seq), subject, why])
  const more = broken.length - rows.length
  const ways = new Set(broken.map(({ stream }) => wayOut(stream)))
  return [
    `${broken.length} of ${seen} cannot be read. Everything else continues without them.`,
    '',
    ...tableLines(['STREAM', 'SEQUENCE', 'SUBJECT OR KEY', 'WHY'], rows),
    ...(more > 0 ? [`and ${more} more: --json lists all`] : []),
    '',
    ...ways,
    ...notes,
  ]
}

function wayOut(stream: string): string {
  if (stream.startsWith('KV_'))
    return `${stream}: counts as missing, so nothing is allowed by it. Write the entry again with its own command, or remove it: \`nats kv del ${stream.slice(3)} KEY\``
  if (stream === 'READINGS')
    return 'READINGS: a foreign message keeps its place until the log is trimmed; nothing has to be done. Find out what publishes there: only `pipeline` may'
  if (stream === 'BLOBS')
    return 'BLOBS: `airproof audit` says which batch has no proofs now; restore the stream from a backup'
  return `${stream}: skipped until it is too old. To remove one: \`nats stream rmm ${stream} SEQUENCE\``
}
