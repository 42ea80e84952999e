/** When a reading is said to be anchored, before any batch of the chain is final. */
import { expect, test } from 'vitest'
import { createExpectedBy } from '../../api/proofs/proven-reading.ts'
import type { Hex } from '../../core/hex.ts'
import { minuteMs } from '../../core/time.ts'
import { createBatchIndex } from '../../operate/proofs/batch-index.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'

const keccak = await createKeccak()
const contract: Hex = `0x${'ab'.repeat(20)}`
const genesisHash: Hex = `0x${'01'.repeat(32)}`
const nowMs = Date.UTC(2026, 10, 23)

test.each([
  ['the chain of a demonstration', 31_337, 2],
  ['Ethereum', 1, 20],
])(
  'on %s (%i) the first batch is expected within the interval and %i minutes',
  (_, chainId, minutes) => {
    const index = createBatchIndex(keccak)
    index.putDeployments([{ chainId, genesisHash, contract, block: 1 }])
    const expected = createExpectedBy({ index, intervalMs: minuteMs, nowMs: () => nowMs })
    expect(expected({ status: 'pending', hash: genesisHash }) - nowMs).toBe(
      (1 + minutes) * minuteMs,
    )
  },
)
