import { expect, test } from 'vitest'
import { heldBy } from '../../anchor/audit/expired.ts'
import { collectFindings } from '../../anchor/audit/findings.ts'
import { pendingRows } from '../../anchor/audit/pending.ts'
import { checkRows } from '../../anchor/audit/rows.ts'
import { seqOf } from '../../core/air/reading.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import type { BatchBlobs } from '../../runtime/nats/batch-blobs.ts'

const keccak = await createKeccak()
const zero = `0x${'00'.repeat(32)}` as const
const numbers = (n: number) => Array.from({ length: 16 }, (_, at) => (at === 0 ? n : 0))
const header = (version?: 2): BatchHeader => ({
  ...(version && { version }),
  index: 1,
  prevHead: zero,
  root: zero,
  first: 1,
  last: 1,
  count: 2,
  timeMinMs: 1_000,
  timeMaxMs: 2_000,
  sealedMs: 3_000,
  beacon: zero,
  nFirst: numbers(0).map(() => 1),
  nLast: numbers(2),
})
const noBlobs: BatchBlobs = {
  top: () => Promise.resolve(undefined),
  tile: () => Promise.resolve(undefined),
}
/** Of a store without rows, by a record that calls all of them expired. */
async function missingIn(headers: readonly BatchHeader[], hasArchive: boolean) {
  const findings = collectFindings()
  const rawBeforeMs = 10_000
  const rows = [1, 2].map((n) => ({ seq: seqOf(0, n), timeMs: n * 1_000 }))
  async function* archived() {
    yield await Promise.resolve(rows)
  }
  const expired = { rawBeforeMs, blobsBeforeBatch: 0, ...(hasArchive && { archived }) }
  const held = await heldBy(expired, headers, findings)
  const pending = pendingRows({ findings, keccak, blobs: noBlobs })
  const tools = { headers, blobs: noBlobs, keccak, findings, pending }
  const check = checkRows({ ...tools, isAll: true, blobsBeforeBatch: 0 })
  check.findMissing(-Infinity, { rawBeforeMs, held })
  const { archived: count, not_checked } = check.report()
  return { kinds: findings.list().map(({ kind }) => kind), count, not_checked }
}

test('rows that the archive shows may be gone, but for those of leaf 1, which it does not have whole', async () => {
  expect(await missingIn([header(2)], true)).toEqual({ kinds: [], count: 2, not_checked: 0 })
  expect(await missingIn([header(2)], false)).toEqual({ kinds: [], count: 0, not_checked: 2 })
  const stolen = { kinds: ['missing'], count: 0, not_checked: 0 }
  expect(await missingIn([header()], true)).toEqual(stolen)
  expect(await missingIn([header()], false)).toEqual(stolen)
})
