import type { WriteApi } from '@influxdata/influxdb-client'
import { StoreMisconfigured } from '../store.ts'
import { answerOf, influxFault } from './fault.ts'

export type BadLine = { readonly index: number; readonly why: string }

export type LinesWritten = {
  /** Lines that the server could not parse; the others were sent again without them. */
  readonly bad: readonly BadLine[]
  /** Why the server dropped some of the rest, where it did: it does not say which. */
  readonly dropped: string | undefined
}

/**
 * Writes lines in one request, durable when resolved; more than one only where some are bad.
 * @throws StoreUnavailable nothing is known: send the same again  @throws StoreMisconfigured
 */
export async function writeLines(
  writeApi: WriteApi,
  text: string,
  place: string,
): Promise<LinesWritten> {
  const bad = new Map<number, string>()
  for (let left = text; ; ) {
    const sent = left === '' ? { kind: 'written' as const } : await send(writeApi, left, place)
    const cut = [...bad].map(([index, why]) => ({ index, why }))
    switch (sent.kind) {
      case 'written':
        return { bad: cut, dropped: undefined }
      case 'dropped':
        return { bad: cut, dropped: sent.why }
      case 'unparsed': {
        const quoted = quotedLines(sent.message, new Set(left.split('\n')))
        if (quoted.size === 0) {
          throw new StoreMisconfigured(`${place} refuses what we write: ${sent.message}`)
        }
        const lines = text.split('\n')
        for (const [i, line] of lines.entries()) {
          const why = quoted.get(line)
          if (why !== undefined) bad.set(i, why)
        }
        left = lines.filter((_, i) => !bad.has(i)).join('\n')
      }
    }
  }
}

type Sent =
  | { readonly kind: 'written' }
  | { readonly kind: 'dropped'; readonly why: string }
  | { readonly kind: 'unparsed'; readonly message: string }

async function send(writeApi: WriteApi, lines: string, place: string): Promise<Sent> {
  try {
    // both in one turn: calls side by side never share a buffer
    writeApi.writeRecord(lines)
    await writeApi.flush()
    return { kind: 'written' }
  } catch (error) {
    const answer = answerOf(error)
    // 400: nothing of the request was written. 422: all of it but what was dropped.
    if (answer?.status === 400) return { kind: 'unparsed', message: answer.message }
    if (answer?.status === 422) return { kind: 'dropped', why: answer.message }
    throw influxFault(error, place)
  }
}

/**
 * The lines that an answer of `unable to parse '<line>': <why>` quotes, with the reason. A line
 * may hold the same marks itself, so a quotation counts where it is one of ours as a whole.
 */
export function quotedLines(
  message: string,
  ours: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const faults = new Map<string, string>()
  const opening = "unable to parse '"
  const closing = "': "
  for (let at = message.indexOf(opening); at >= 0; at = message.indexOf(opening, at + 1)) {
    const start = at + opening.length
    const lineEnd = message.indexOf('\n', start)
    const rest = message.slice(start, lineEnd < 0 ? undefined : lineEnd)
    for (let end = rest.indexOf(closing); end >= 0; end = rest.indexOf(closing, end + 1)) {
      const line = rest.slice(0, end)
      if (ours.has(line)) faults.set(line, rest.slice(end + closing.length))
    }
  }
  return faults
}
