import type { Mutant } from '../mutant.ts'

const cursor: Pick<Mutant, 'file' | 'tests'> = {
  file: 'schemas/log/log-cursor.ts',
  tests: ['log-cursor'],
}

/** Each part of a cursor, and each check of its reader. */
export const cursorMutants: readonly Mutant[] = [
  {
    ...cursor,
    name: 'it has no position',
    text: 'end = writeNumber(position, end)',
    becomes: 'end = writeNumber(0 * position, end)',
  },
  {
    ...cursor,
    name: 'the first partition is not in it',
    text: 'for (const number of n) end',
    becomes: 'for (const number of [0, ...n.slice(1)]) end',
  },
  {
    ...cursor,
    name: 'events of the message are not in it',
    text: 'if (events !== undefined) end = writeNumber(events, end)',
    becomes: 'if (events === -1) end = writeNumber(events, end)',
  },
  {
    ...cursor,
    name: 'another network’s id is written',
    text: 'scratch[end++] = Number.parseInt(network.slice(2 * i, 2 * i + 2), 16)',
    becomes: 'scratch[end++] = Number.parseInt(network.slice(0, 2), 16)',
  },
  {
    ...cursor,
    name: 'another version is read',
    text: 'bytes[0] !== 1 || ',
    becomes: '',
  },
  {
    ...cursor,
    name: 'one cursor has several texts',
    text: " || bytes.toString('base64url') !== text",
    becomes: '',
  },
  {
    ...cursor,
    name: 'its checksum is not compared',
    text: 'crc32(bytes.subarray(0, checkAt)) !== bytes.readUInt32BE(checkAt)',
    becomes: 'crc32(bytes.subarray(0, checkAt)) < 0',
  },
  {
    ...cursor,
    name: 'its checksum leaves out the version and the network',
    text: 'const check = crc32(scratch.subarray(0, end))',
    becomes: 'const check = crc32(scratch.subarray(1 + networkBytes, end))',
  },
  {
    ...cursor,
    name: 'one of fewer partitions is read',
    text: ' || n.length !== partitionCount || more',
    becomes: ' || more',
  },
  {
    ...cursor,
    name: 'one with more behind it is read',
    text: ' || more.length > 0',
    becomes: ' || more.length > 1_000',
  },
  {
    ...cursor,
    name: 'a number has several forms',
    text: 'if (byte === 0 && weight > 0x80) return undefined',
    becomes: '',
  },
  {
    ...cursor,
    name: 'a number that is cut off is read',
    text: 'return weight === 1 ? numbers : undefined',
    becomes: 'return numbers',
  },
  {
    ...cursor,
    name: 'a number that is too large is read',
    text: 'if (!Number.isSafeInteger(number)) return undefined',
    becomes: '',
  },
  {
    ...cursor,
    name: 'one of a network that is none is written',
    text: '!isNetworkId(network) || ',
    becomes: '',
  },
  {
    ...cursor,
    name: 'one of fewer partitions is written',
    text: 'n.length !== partitionCount)\n    throw',
    becomes: 'n.length > partitionCount)\n    throw',
  },
]
