import type { Mutant, RowMutants } from '../mutant.ts'

const tests = ['formats']
const table = 'schemas/formats.ts'

/** A reader that takes a newer version as if it knew it. */
const reader = (file: string, more: Partial<RowMutants> = {}): RowMutants => ({
  name: `${file} reads a version that it does not know`,
  file,
  rows: /\basVersion1\(/g,
  // still named, as its import would be too much else
  becomes: () =>
    '((_format: string, value: unknown, _where?: string) => (void asVersion1, value))(',
  least: 1,
  tests,
  ...more,
})
const header: Partial<RowMutants> = {
  rows: /\b(assertKnown(?:Header|File)?)\((?!\s*$)/gm,
  becomes: (_call, [name]) => `((..._unread: readonly unknown[]) => void ${name})(`,
}

export const formatMutants: readonly (Mutant | RowMutants)[] = [
  {
    name: 'a format is not in the table',
    file: table,
    rows: /^ {2}(\w+): \{ newest: \d+, is: .*\n/gm,
    becomes: () => '',
    least: 18,
    tests,
  },
  {
    name: 'a format claims a version that was never written',
    file: table,
    rows: /(?<=^ {2}(\w+): \{ newest: )\d+/gm,
    becomes: (newest) => `${Number(newest) + 1}`,
    least: 18,
    tests,
  },
  {
    name: 'a newer version is known',
    file: table,
    text: 'version > formats[format].newest',
    becomes: 'version > formats[format].newest + 1',
    tests,
  },
  {
    name: 'the level of a later version is known',
    file: 'schemas/format-level.ts',
    rows: /(?<=newestLevel: FormatLevel = )\d/g,
    becomes: (level) => `${Number(level) - 1}`,
    least: 1,
    tests,
  },
  reader('runtime/machine/running-instance.ts'),
  reader('runtime/engines/nats-access.ts'),
  reader('runtime/nats/buckets/read-entry.ts', {
    rows: /\bknownEntry\((?=bucket)/g,
    becomes: () => '((_bucket: string, _key: string, value: unknown) => (void knownEntry, value))(',
  }),
  reader('anchor/send/journal.ts'),
  reader('schemas/log/event.ts'),
  reader('schemas/webhooks/ledger-snapshot.ts', header),
  reader('schemas/anchoring/batch-record.ts'),
  reader('schemas/bucket-entries.ts'),
  reader('schemas/people/quota.ts'),
  reader('gate/push/spool-line.ts', header),
  reader('operate/rejected-messages.ts', header),
  reader('runtime/nats/wal-message.ts', header),
  reader('cli/verify.ts', header),
  reader('runtime/nats/batch-blobs.ts', header),
  reader('api/quota/usage.ts'),
  reader('operate/webhooks/attempt-log.ts'),
  reader('dashboard/server/people/holdings.ts'),
  reader('dashboard/server/read-subject.ts'),
  reader('dashboard/mail/mail-sender.ts'),
  reader('runtime/process/kept-store.ts'),
  {
    name: 'a worker does not wait for the marks of the others',
    file: 'core/state/border.ts',
    text: "isBornAbove || isAllMarked ? 'above' : 'waiting'",
    becomes: "'above'",
    tests: ['border'],
  },
  {
    name: 'a partition has no mark',
    file: 'core/state/border.ts',
    text: "isBornAbove ? 'above' : 'mark'",
    becomes: "'above'",
    tests: ['border'],
  },
  {
    name: 'a worker goes back to the level that it sees',
    file: 'schemas/log/readings-message.ts',
    text: 'message.leafVersion === 2 ? 3',
    becomes: 'message.leafVersion === 2 && level === 3 ? 3',
    tests: ['readings-message'],
  },
]
