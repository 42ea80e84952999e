/**
 * One raw message per line, as it arrived over NATS: a reading or an array of them. It is sent byte
 * for byte, so that the pipeline judges the original and stores what it refuses.
 */
import { decodeRaw, isFault, longestRawMessage } from '../../schemas/log/raw-reading.ts'
import { type ArchiveFormat, NotThisFormat } from './archive-format.ts'
import { latestTime } from './message-time.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a RAW stream takes in one message, less the room for its headers. */
const mostBytes = longestRawMessage - 1024

/** A token of a subject. Whether it is a sensor's id is decided by the pipeline. */
const subjectWord = /^[\w-]{1,64}$/

export const ndjson: ArchiveFormat = {
  about: 'one raw message per line, sent byte for byte',
  holds: 'messages',
  encoding: 'latin1',
  open(firstLine, { counts, emit, unsendable }) {
    if (!/^\s*[[{]/.test(firstLine))
      throw new NotThisFormat('its first line is not a JSON object or array')
    const line = (text: string): void => {
      const parsed = readMessage(text)
      if (typeof parsed === 'string') {
        counts.rows += 1
        counts.unmapped += 1
        unsendable(parsed)
        return
      }
      const { sensor, list, items } = parsed
      counts.rows += items
      counts.values += items
      const timeMs = latestTime(list)
      const message = { bytes: text, items }
      emit({ sensor, timestamp: '', timeMs, place: undefined, values: {}, message })
    }
    line(firstLine)
    return { line, end() {} }
  },
}

type ParsedLine = {
  readonly sensor: string
  readonly list: readonly unknown[]
  readonly items: number
}

/** Why it cannot be sent, where it cannot. */
function readMessage(text: string): ParsedLine | string {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length > mostBytes) return `${bytes.length} bytes are more than NATS takes`
  const decoded = decodeRaw(bytes)
  const list = isFault(decoded) ? listIn(bytes.toString()) : decoded
  const sensor = list === undefined ? sensorNamedIn(text) : sensorOf(list[0])
  if (sensor === undefined) return 'no sensor_id can be read from it'
  if (!subjectWord.test(sensor))
    return `its sensor_id ${JSON.stringify(sensor)} is not a token of a subject`
  return { sensor, list: list ?? [], items: isFault(decoded) ? 1 : decoded.length }
}

const sensorOf = (item: unknown): string | undefined =>
  isFields(item) && typeof item['sensor_id'] === 'string' ? item['sensor_id'] : undefined

/** The name in a line that is not JSON: one cut short, or one with NaN in it. */
const sensorNamedIn = (text: string): string | undefined =>
  /"sensor_id"\s*:\s*"([^"\\]*)"/.exec(text)?.[1]

function listIn(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    return undefined
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
