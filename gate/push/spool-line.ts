import { crc32 } from '../../core/crc32.ts'
import { assertKnown } from '../../schemas/formats.ts'

/** A raw message of one sensor that waits for NATS, its time already set. */
export type Waiting = { readonly sensor: string; readonly body: string }

const utf8 = new TextEncoder()
const checkOf = (text: string): string => crc32(utf8.encode(text)).toString(16).padStart(8, '0')

/**
 * One line with its newline: check, sensor, body. Neither holds a newline: ids are NATS tokens,
 * bodies JSON.
 */
export function spoolLine({ sensor, body }: Waiting): string {
  const text = `${sensor} ${body}`
  return `${checkOf(text)} ${text}\n`
}

/**
 * A later version would begin its lines with `v2 `, which no check is.
 * @returns undefined for a line that was cut short or is damaged @throws NewerFormat
 */
export function parseSpoolLine(line: string): Waiting | undefined {
  const [, version] = /^v(\d+) /.exec(line) ?? []
  if (version !== undefined) assertKnown('spool', Number(version))
  const text = line.slice(9)
  const space = text.indexOf(' ')
  if (line[8] !== ' ' || space < 1 || line.slice(0, 8) !== checkOf(text)) return undefined
  return { sensor: text.slice(0, space), body: text.slice(space + 1) }
}
