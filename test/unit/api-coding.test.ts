import { expect, test } from 'vitest'
import { codingFor, readCodings } from '../../api/http/coding.ts'

/** Accept-Encoding → the coding of a long answer in JSON; plain: as it is. */
const accepted: readonly [accept: string | undefined, coding: string][] = [
  [undefined, 'plain'],
  ['', 'plain'],
  ['identity', 'plain'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br', 'br'],
  // what browsers send: the order means nothing
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip;q=1.0, br;q=0.8, zstd;q=0.999', 'gzip'],
  ['gzip ; q=0.5,\tbr;q=0.6', 'br'],
  ['gzip;q=0', 'plain'],
  ['gzip;q=0.000, br', 'br'],
  ['*', 'gzip'],
  ['*;q=0.1, br;q=0.2', 'br'],
  ['gzip;q=0, *', 'br'],
  ['identity, gzip;q=0.5', 'plain'],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['*;q=0, br;q=0.1', 'br'],
  ['identity;q=0', 'refused'],
  ['*;q=0', 'refused'],
  ['identity;q=0, deflate, compress', 'refused'],
  // what is not one of our codings, or no coding at all
  ['deflate', 'plain'],
  ['snappy, lzma;q=0.9', 'plain'],
  ['gzip;q=2', 'plain'],
  ['gzip;q=-1', 'plain'],
  ['gzip;q=high', 'plain'],
  ['gzip;q=0.5555', 'plain'],
  ['gzip;level=9', 'plain'],
  ['gzip br', 'plain'],
  [', ,;;,=', 'plain'],
  ['gzip;q=1;q=0', 'plain'],
  ['__proto__, constructor', 'plain'],
  // it contradicts itself: the refusal counts
  ['gzip, gzip;q=0', 'plain'],
  ['gzip;q=0, br, gzip', 'br'],
  [`${'x,'.repeat(4_000)}gzip`, 'gzip'],
]

const long = 100_000
const chosen = (accept: string | undefined, type = 'application/json', bytes = long): string => {
  try {
    return codingFor(type, bytes, readCodings(accept)) ?? 'plain'
  } catch (error) {
    return error instanceof Error && 'status' in error && error.status === 406 ? 'refused' : 'threw'
  }
}

test.each(accepted)('Accept-Encoding %j is answered as %s, each time', (accept, coding) => {
  expect(chosen(accept)).toBe(coding)
  expect(chosen(accept)).toBe(coding)
})

test('a short answer is sent as it is, unless the client refuses that', () => {
  expect(chosen('gzip', 'application/json', 1_023)).toBe('plain')
  expect(chosen('gzip', 'application/json', 1_024)).toBe('gzip')
  expect(chosen('gzip, identity;q=0', 'application/json', 1)).toBe('gzip')
})

test('text is compressed; a stream, and what is compressed already, is not', () => {
  const texts = [
    'application/json',
    'application/problem+json',
    'application/geo+json',
    'application/x-ndjson',
    'text/csv',
    'text/html; charset=utf-8',
    'text/javascript; charset=utf-8',
  ]
  for (const type of texts) expect([type, chosen('zstd', type)]).toEqual([type, 'zstd'])
  const others = [
    'text/event-stream',
    'image/png',
    'application/vnd.apache.parquet',
    'application/zip',
  ]
  for (const type of others) {
    expect([type, chosen('zstd', type)]).toEqual([type, 'plain'])
    expect([type, chosen('zstd, identity;q=0', type)]).toEqual([type, 'refused'])
  }
})
