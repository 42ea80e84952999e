/**
 * Each format that outlives a process: version 1 is read with and without a version field, and one
 * that is newer than known is refused by an error that names both versions and the way out.
 */

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { headers as makeHeaders } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import { openJournal } from '../../anchor/send/journal.ts'
import { readManifest } from '../../cli/backup/manifest.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import { sourceRows } from '../../core/delivery/event-kinds.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { openSpool } from '../../gate/push/spool.ts'
import { parseSpoolLine, spoolLine } from '../../gate/push/spool-line.ts'
import { rejectedFault } from '../../operate/rejected-messages.ts'
import { openNatsAccess } from '../../runtime/engines/nats-access.ts'
import { exitCodeOf, inWords } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import { knownLevel } from '../../runtime/nats/format-level.ts'
import { readWal } from '../../runtime/nats/wal-message.ts'
import {
  parseAnchoredEvent,
  parseSealed,
  sealedEntry,
} from '../../schemas/anchoring/batch-record.ts'
import { faultOfEntry } from '../../schemas/bucket-entries.ts'
import { decodeImageHead, encodeImageHead } from '../../schemas/bucket-image.ts'
import {
  assertKnown,
  assertKnownFile,
  assertKnownHeader,
  asVersion1,
  type Format,
  formats,
  NewerFormat,
  versionHeader,
} from '../../schemas/formats.ts'
import { parseEvent } from '../../schemas/log/event.ts'
import { decodeCount } from '../../schemas/people/quota.ts'
import { buckets, rejectedHeaders, walHeaders } from '../../schemas/subjects.ts'
import { parseManifest } from '../../schemas/webhooks/ledger-snapshot.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
const headersOf = (values: Readonly<Record<string, string>>) => {
  const headers = makeHeaders()
  for (const [name, value] of Object.entries(values)) headers.set(name, value)
  return headers
}

/** The parts of a KV entry that the readers use. */
const entryOf = (bucket: string, key: string, value: unknown) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that are read
  ({
    bucket,
    key,
    revision: 1,
    operation: 'PUT',
    string: () => JSON.stringify(value),
  }) as unknown as Parameters<typeof jsonOf>[0] & object

const event = {
  id: '1-0',
  kind: 'offline',
  sensor_id: 'NGR-LOS-IKJ-001',
  timestamp: '2026-01-01T00:00:00Z',
  area: 'Ikeja',
  address: '',
  last_reading: '2026-01-01T00:00:00Z',
  offline_since: '2026-01-01T00:00:00Z',
  silence_seconds: 900,
}
const hash = `0x${'a1'.repeat(32)}` as const
const header: BatchHeader = {
  index: 7,
  prevHead: hash,
  root: hash,
  first: 3,
  last: 9,
  count: 1,
  timeMinMs: 5,
  timeMaxMs: 5,
  sealedMs: 6,
  beacon: hash,
  nFirst: Array(16).fill(1),
  nLast: [1, ...Array(15).fill(0)],
}
const sealedBatch = { header, headerHash: hash, head: hash }
const readSealed = (value: unknown) =>
  parseSealed(jsonOf(entryOf(buckets.batches, 'header.7', value)))
const manifest = { v: 1, walSeq: 3, chunks: 1, records: 1, events: 0, readings: 0 }
const imageHead = {
  made: 'a',
  upTo: 1,
  newest: [],
  airproof: '0.2.0',
  shapes: [],
  place: 0,
  pieces: [1],
}
const wal = {
  [walHeaders.worker]: 'w',
  [walHeaders.write]: '1',
  [sourceRows.events.header]: '0',
  [sourceRows.readings.header]: '0',
  'Nats-Expected-Last-Subject-Sequence': '0',
}
const rejected = { [rejectedHeaders.length]: '3', [rejectedHeaders.arrived]: '1' }

type Reader = {
  /** Reads it; throws or returns undefined if it cannot. @param version undefined: it says none */
  readonly read: (version: number | undefined) => unknown
}
const withV = (value: object, v: number | undefined) => (v === undefined ? value : { ...value, v })
const withHeader = (values: Readonly<Record<string, string>>, version: number | undefined) =>
  headersOf(version === undefined ? values : { ...values, [versionHeader]: String(version) })

const readers: Readonly<Partial<Record<Format, Reader>>> = {
  event: { read: (v) => parseEvent(bytes(withV(event, v))) },
  manifest: { read: (v) => parseManifest(bytes({ ...manifest, v: v ?? 1 })) },
  ledger: {
    read: (v) =>
      readWal('DW_0', {
        seq: 1,
        subject: 'dw.0.wal',
        headers: withHeader(wal, v),
        data: new Uint8Array(),
      }),
  },
  rejected: {
    read: (v) => rejectedFault('air.rejected.future.0.1.0', withHeader(rejected, v)) ?? 'read',
  },
  entry: { read: (v) => jsonOf(entryOf(buckets.tokens, 'a', withV({ use: {}, until: '' }, v))) },
  sealed: { read: (v) => readSealed(withV(sealedBatch, v)) },
  spool: {
    read: (v) => {
      const line = spoolLine({ sensor: 'a', body: '{}' }).trimEnd()
      return parseSpoolLine(v === undefined || v === 1 ? line : `v${v} ${line}`)
    },
  },
  ready: {
    read: (v) => {
      using folder = temporaryFolder()
      writeFileSync(
        join(folder.path, 'ready.json'),
        JSON.stringify(withV({ nats: 'nats://a', api: 'http://b' }, v)),
      )
      return readRunningInstance(folder.path)
    },
  },
  access: {
    read: (v) => {
      using folder = temporaryFolder()
      const file = join(folder.path, 'nats-access.json')
      const made = openNatsAccess(file)
      writeFileSync(file, JSON.stringify(withV(made, v)))
      expect(openNatsAccess(file)).toEqual(made)
      return 'read'
    },
  },
  proof: { read: (v) => assertKnownFile(`{"format":"airproof.proof.v${v ?? 1}"`) ?? 'read' },
  export: { read: (v) => assertKnownFile(`{"format":"airproof.export.v${v ?? 1}"`) ?? 'read' },
  backup: {
    read: (v) => {
      using folder = temporaryFolder()
      writeFileSync(
        join(folder.path, 'manifest.json'),
        JSON.stringify({ format: `airproof.backup.v${v ?? 1}` }),
      )
      // what is not of a later version is then refused as incomplete
      expect(() => readManifest(folder.path)).toThrow(/damaged|version/)
      return assertKnown('backup', v ?? 1) ?? 'read'
    },
  },
  image: {
    read: (v) => {
      const { v: _, ...text } = JSON.parse(encodeImageHead(imageHead))
      return decodeImageHead(bytes(withV(text, v)))
    },
  },
  // their readers need a server
  attempt: { read: (v) => asVersion1('attempt', withV({ delivery: 'a' }, v)) },
  audit: { read: (v) => asVersion1('audit', withV({ kind: 'a' }, v)) },
  requests: { read: (v) => asVersion1('requests', withV({ requests: [], left_out: 0 }, v)) },
  mail: { read: (v) => asVersion1('mail', withV({ kind: 'a' }, v)) },
  blob: { read: (v) => assertKnownHeader('blob', withHeader({}, v)) ?? 'read' },
}

const wordsOf = (read: () => unknown): string => {
  try {
    return `read: ${JSON.stringify(read())}`
  } catch (error) {
    expect(error).toBeInstanceOf(NewerFormat)
    expect(exitCodeOf(error)).toBe(1)
    return inWords(error)
  }
}

describe.each(Object.keys(readers) as Format[])('%s', (format) => {
  const { read } = readers[format] ?? { read: () => undefined }
  const { newest, is } = formats[format]

  test('version 1 is read, with and without a version field', () => {
    const unsaid = read(undefined)
    expect(unsaid).toBeDefined()
    expect(typeof unsaid === 'string' ? unsaid : 'read').toBe('read')
    expect(read(1)).toEqual(unsaid)
  })

  test('one that is newer than known is refused by an error that says what to do', () => {
    const words = wordsOf(() => read(newest + 1))
    expect(words).toContain(is)
    expect(words).toContain(
      `is of version ${newest + 1}, and this airproof reads it up to version ${newest}: use the airproof that wrote it, or a later one`,
    )
  })
})

test('the newest versions are those that have a reader', () => {
  const newest = Object.entries(formats).map(([format, row]) => [format, row.newest])
  const above1 = newest.filter(([, version]) => version !== 1)
  expect(Object.fromEntries(above1)).toEqual({
    readings: 3,
    snapshot: 2,
    sealed: 2,
    ledger: 2,
    manifest: 2,
    proof: 2,
    export: 2,
  })
})

const callers = (pattern: RegExp): number =>
  globSync(
    '{anchor,api,archive,cli,dashboard,gate,notifier,operate,pipeline,runtime,schemas}/**/*.ts',
  )
    .map((file) => readFileSync(file, 'utf8'))
    .filter((text) => pattern.test(text)).length

test('what a server stores is never read without a check of its version', () => {
  expect(callers(/\basVersion1\('entry',/)).toBe(4)
  expect(callers(/\bknownEntry\(/)).toBe(3)
  expect(callers(/\basVersion1\('attempt',/)).toBe(1)
  // AUDIT and REQUESTS, by the one reader of subjects
  expect(callers(/\basVersion1\(format,/)).toBe(1)
  expect(callers(/\basVersion1\('mail',/)).toBe(1)
  expect(callers(/\bassertKnownHeader\('blob',/)).toBe(1)
})

test('formats that are read elsewhere are in the table too', () => {
  const elsewhere = ['readings', 'snapshot', 'journal']
  expect(Object.keys(formats).toSorted()).toEqual(
    [...Object.keys(readers), ...elsewhere].toSorted(),
  )
  for (const format of ['readings', 'snapshot'] as const) {
    assertKnown(format, 1)
    assertKnown(format, formats[format].newest)
    expect(() => assertKnown(format, formats[format].newest + 1)).toThrow(NewerFormat)
  }
})

test('the journal of anchors does not mistake a newer entry for a lost one', async () => {
  const keccak = await createKeccak()
  const kvOf = (value: unknown) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one call that is made
    ({ get: async () => entryOf(buckets.anchoring, 'final', value) }) as unknown as Parameters<
      typeof openJournal
    >[0]
  const final = (value: unknown) => openJournal(kvOf(value), keccak).final()
  expect((await final({ index: 7 })).value).toBe(7)
  expect((await final({ v: 1, index: 7 })).value).toBe(7)
  await expect(final({ v: 2, index: 7 })).rejects.toThrow(
    /entry of the journal of anchors \(key final\) is of version 2/,
  )
})

test('every bucket has the rule, and its list of faults agrees', () => {
  for (const bucket of [buckets.sensors, buckets.webhooks, buckets.accounts, buckets.batches]) {
    const read = () => jsonOf(entryOf(bucket, 'open', { v: 2 }))
    expect(read).toThrow(`an entry (KV ${bucket}, key open) is of version 2`)
    expect(faultOfEntry(bucket, 'open', '{"v":2}')).toContain('is of version 2')
  }
  expect(() => decodeCount('{"v":2,"used":1,"minute":1,"in_minute":1}')).toThrow(NewerFormat)
})

test('a sealed batch is written as 0.1 wrote it, and says its version from 2 on', () => {
  expect(sealedEntry(sealedBatch)).toEqual(sealedBatch)
  const sealed2 = { ...sealedBatch, header: { ...header, version: 2 } } as const
  expect(sealedEntry(sealed2)).toEqual({ v: 2, ...sealedBatch })
  expect(readSealed(sealedEntry(sealedBatch))).toEqual(sealedBatch)
  expect(readSealed(sealedEntry(sealed2))).toEqual(sealed2)
  for (const version of [1, 2, 3]) {
    const inHeader = { ...sealedBatch, header: { ...header, version } }
    expect(parseSealed(inHeader)).toBeUndefined()
    expect(faultOfEntry(buckets.batches, 'header.7', JSON.stringify(inHeader))).toBeDefined()
  }
})

test.each(['proof', 'export'])('verify refuses a file of a later version: %s', async (format) => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'newer.json')
  writeFileSync(file, `{"format":"airproof.${format}.v3"}`)
  const { code, err } = await runCommand(verifyCommand, { words: [file] })
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('reads it up to version 2: use the airp'),
  ])
})

test('a spool of a later version is not opened', async () => {
  using folder = temporaryFolder()
  const spool = join(folder.path, 'spool')
  mkdirSync(spool)
  writeFileSync(join(spool, `${'1'.padStart(15, '0')}.log`), 'v2 whatever\n')
  await expect(openSpool({ folder: spool, maxBytes: 1_000 })).rejects.toThrow(NewerFormat)
})

test('an anchored event of a later version is not skipped', () => {
  expect(parseAnchoredEvent(bytes({}))).toBeUndefined()
  expect(() => parseAnchoredEvent(bytes({ v: 2 }))).toThrow(NewerFormat)
})

test('a version that is not a number is damage, not a later version', () => {
  for (const v of ['2', null, {}, 1.5, -1])
    expect(asVersion1('event', { v, a: 1 })).toEqual({ v, a: 1 })
})

test('a level that is higher than known is refused by an error that says what to do', () => {
  expect(() => knownLevel(4)).toThrow(
    /writes formats of level 4, but airproof .* knows them only up to level 3: use the version that raised/,
  )
  expect([knownLevel(1), knownLevel(2), knownLevel(3)]).toEqual([1, 2, 3])
})
