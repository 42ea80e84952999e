/**
 * A place in the order of acceptance, as an opaque text: what its holder has of the log. `/v1/changes`,
 * the stream's `Last-Event-ID` and the archive's catalogue all use it, so a client that stops at one of
 * them goes on at another. The numbers of the readings decide what it lacks; the log's sequence only
 * says where to look.
 *
 *     version (1) · network (6 bytes) · position · 16 × n [· events] · crc32 of all before (4 bytes)
 *
 * Numbers are LEB128; the whole is base64url, some 80 to 110 characters. A later version of the format
 * takes another first byte: a reader that does not know it refuses the cursor.
 */
import { partitionCount } from '../../core/air/sensor-id.ts'
import { crc32 } from '../../core/crc32.ts'

export type LogCursor = {
  readonly version: 1
  /** The id of the network, 12 hex digits (`isNetworkId`): a cursor of another one is refused. */
  readonly network: string
  /** The message of READINGS up to which everything was read; 0: none. */
  readonly position: number
  /** By partition: the number of its last reading that the holder has; 0: none. */
  readonly n: readonly number[]
  /** How many events of message `position` + 1 the holder has: only in ids of the stream. */
  readonly events?: number
}

const networkBytes = 6
const checkBytes = 4

/** KV `system`, key `network`: made once, with the instance, and never changed. */
export const isNetworkId = (text: string): boolean => /^[0-9a-f]{12}$/.test(text)

/** Everything that the log has is after it. */
export const beginningOf = (network: string): LogCursor => ({
  version: 1,
  network,
  position: 0,
  n: Array.from({ length: partitionCount }, () => 0),
})

const longestNumber = 8
const scratch = new Uint8Array(1 + networkBytes + (partitionCount + 2) * longestNumber + checkBytes)

/** @throws RangeError a number is not one of a cursor */
export function encodeLogCursor({ version, network, position, n, events }: LogCursor): string {
  if (!isNetworkId(network) || n.length !== partitionCount)
    throw new RangeError('a cursor has the id of a network and a number for each partition')
  scratch[0] = version
  let end = 1
  for (let i = 0; i < networkBytes; i++)
    scratch[end++] = Number.parseInt(network.slice(2 * i, 2 * i + 2), 16)
  end = writeNumber(position, end)
  for (const number of n) end = writeNumber(number, end)
  if (events !== undefined) end = writeNumber(events, end)
  const check = crc32(scratch.subarray(0, end))
  for (let shift = 24; shift >= 0; shift -= 8) scratch[end++] = (check >>> shift) & 0xff
  return Buffer.from(scratch.buffer, 0, end).toString('base64url')
}

function writeNumber(number: number, at: number): number {
  if (!Number.isSafeInteger(number) || number < 0)
    throw new RangeError(`a cursor cannot hold ${number}`)
  let end = at
  let rest = number
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) scratch[end++] = (rest % 0x80) | 0x80
  scratch[end++] = rest
  return end
}

/** @returns undefined if the text is not a cursor of this version, whatever it is */
export function decodeLogCursor(text: string): LogCursor | undefined {
  if (text.length > 2 * scratch.length) return undefined
  const bytes = Buffer.from(text, 'base64url')
  // Buffer reads over what is not base64url: each cursor has one text
  if (bytes[0] !== 1 || bytes.toString('base64url') !== text) return undefined
  const checkAt = bytes.length - checkBytes
  if (
    checkAt < 1 + networkBytes ||
    crc32(bytes.subarray(0, checkAt)) !== bytes.readUInt32BE(checkAt)
  )
    return undefined
  const numbers = readNumbers(bytes.subarray(1 + networkBytes, checkAt))
  const [position, ...rest] = numbers ?? []
  const n = rest.slice(0, partitionCount)
  const [events, ...more] = rest.slice(partitionCount)
  if (position === undefined || n.length !== partitionCount || more.length > 0) return undefined
  const network = bytes.toString('hex', 1, 1 + networkBytes)
  return { version: 1, network, position, n, ...(events !== undefined && { events }) }
}

/** @returns undefined if the bytes are not whole numbers, each in its shortest form */
function readNumbers(bytes: Uint8Array): number[] | undefined {
  const numbers: number[] = []
  let number = 0
  let weight = 1
  for (const byte of bytes) {
    number += (byte & 0x7f) * weight
    weight *= 0x80
    if (!Number.isSafeInteger(number)) return undefined
    if (byte > 0x7f) continue
    if (byte === 0 && weight > 0x80) return undefined
    numbers.push(number)
    number = 0
    weight = 1
  }
  return weight === 1 ? numbers : undefined
}
