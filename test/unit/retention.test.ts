import { expect, test } from 'vitest'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import { retentionOf } from '../../runtime/nats/retention.ts'
import { NewerFormat } from '../../schemas/formats.ts'
import { nothingExpired, retentionText } from '../../schemas/retention.ts'
import { buckets } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'

const entryOf = (text: string) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that are read
  ({
    bucket: buckets.system,
    key: systemKeys.retention,
    revision: 1,
    operation: 'PUT',
    string: () => text,
  }) as unknown as NonNullable<Parameters<typeof jsonOf>[0]>
const read = (text: string) => retentionOf(jsonOf(entryOf(text), 'not JSON'))

test('what is written is read', () => {
  const retention = { rawBeforeMs: Date.UTC(2026, 10, 1), blobsBeforeBatch: 7 }
  expect(read(retentionText(retention))).toEqual(retention)
  expect(read(retentionText(nothingExpired))).toEqual(nothingExpired)
})

test('a record of a later version is refused, and a damaged one is not taken for "nothing expired"', () => {
  expect(() => read('{"v":2,"rawBeforeMs":null,"blobsBeforeBatch":null}')).toThrow(NewerFormat)
  expect(() => read('{"v":1,"rawBeforeMs":"soon","blobsBeforeBatch":null}')).toThrow(
    /cannot be read/,
  )
  expect(() => read('{"v":1,')).toThrow(/cannot be read/)
})
