import type { Check } from './check.ts'
import { broken, type Finding, orOk } from './finding.ts'
import type { Messages } from './look-at-all.ts'

export const messagesCheck: Check = {
  name: 'messages',
  needs: 'streams',
  run: async ({ messages }) => messageFindings(await messages()),
}

function messageFindings({ broken: all, streams, buckets: read }: Messages): readonly Finding[] {
  const total = streams.reduce((sum, { messages }) => sum + messages, 0)
  const older = streams.reduce((sum, { left }) => sum + left, 0)
  const seen = `${total} messages of ${streams.length} streams and ${read.looked.length} buckets can be read`
  const rest = older === 0 ? '' : `; ${older} older ones were not looked at (--all does)`
  const closed = read.closed.length === 0 ? '' : `; not read in time: ${read.closed.join(', ')}`
  const byStream = Map.groupBy(all, ({ stream }) => stream)
  return orOk(
    [...byStream].map(([stream, entries]) => {
      const [first] = entries
      const where = `${first?.seq} (${first?.subject}: ${first?.why})`
      const what =
        entries.length === 1
          ? `${stream}: a message cannot be read, ${where}`
          : `${stream}: ${entries.length} messages cannot be read, the first is ${where}`
      return broken(what, wayOut(stream))
    }),
    `${seen}${rest}${closed}`,
  )
}

function wayOut(stream: string): string {
  if (stream.startsWith('KV_'))
    return `it counts as missing, so nothing is allowed by it. Write the entry again with its own command, or remove it: \`nats kv del ${stream.slice(3)} KEY\``
  if (stream === 'READINGS')
    return 'a foreign message keeps its place until the log is trimmed; nothing has to be done. Find out what publishes there: only `pipeline` may'
  if (stream === 'BLOBS')
    return '`airproof audit` says which batch has no proofs now; restore the stream from a backup'
  return `it is skipped until it is too old. To remove it: \`nats stream rmm ${stream} SEQUENCE\``
}
