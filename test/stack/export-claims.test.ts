/** Exports of batches whose headers claim other numbers than the contract was given. */
import { expect, test } from 'vitest'
import { buildChainProof } from '../../anchor/chain/bundle.ts'
import { chainAt } from '../../anchor/chain/chain.ts'
import { checkExport } from '../../cli/export/check-manifest.ts'
import { type Reading, seqOf } from '../../core/air/reading.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { toHex } from '../../core/hex.ts'
import { beginningOf, noContract, noRecord } from '../../core/proof/chain-record.ts'
import { recordOf } from '../../core/proof/header.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import {
  type ExportRun,
  manifestText,
  parseManifest,
} from '../../operate/exports/export-manifest.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { auditedNetwork, type Lie } from '../support/chain/audited-network.ts'
import { valued } from '../support/readings.ts'

const keccak = await createKeccak()

const readings = (from: number, to: number): Reading[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    ...valued({
      sensor: 'NGR-LOS-TST-001' as SensorId,
      area: 'Ikeja',
      timeMs: Date.UTC(2026, 0, 1) + (from + i) * 1_000,
      pm25: 1_000,
      aqi: 53,
      flags: 0,
      seq: seqOf(3, from + i),
    }),
    leafVersion: 2 as const,
  }))

/** Four readings in batch 1, and in batch 2 four that the contract counts, or more that its header claims. */
async function exported(second: readonly Reading[], lie: Lie) {
  await using network = await auditedNetwork()
  const deployment = await network.deploy({ former: noContract, from: noRecord })
  if (!('from' in deployment)) throw new Error('the contract is not of version 2')
  const first = await network.seal(readings(1, 4))
  const headers = [await network.seal(second, lie), await network.seal(readings(9, 10))]
  const chain = chainAt(network.ask, deployment.contract, noContract, 2)
  const newest = Number(await network.ask('eth_blockNumber', []))
  const [, , last] = await chain.anchored(deployment.block, newest)
  const { contract, chainId } = deployment
  const proof = await buildChainProof({ ask: network.ask, chainId, contract, txHash: last!.txHash })
  const run: ExportRun = {
    before: recordOf(first, keccak),
    headers,
    proofs: [
      { index: 2, rows: second.length, places: [[0, second.length - 1]], siblings: [] },
      { index: 3, rows: 2, places: [[0, 1]], siblings: [] },
    ],
    chain: proof!,
  }
  const rows = [second, readings(9, 10)].flatMap((batch, at) =>
    batch.map((reading) => ({ reading, hash: toHex(leafOf(reading, keccak)), batch: at + 2 })),
  )
  const verdictOf = async (changed: ExportRun) => {
    const counted = { count: rows.length, notAnchored: 0 }
    const period = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
    const file = { file: 'rows', format: 'ndjson', sha256: '0'.repeat(64) } as const
    const made = { version: 2, rows: { ...file, ...counted, ...period }, runs: [changed] } as const
    const manifest = parseManifest(manifestText(made))
    const given = (async function* () {
      yield* rows
    })()
    const result = manifest && (await checkExport(manifest, given, { keccak }))
    return result === undefined ? 'not a manifest' : result.ok ? 'proven' : result.why
  }
  return { run, beginning: beginningOf(deployment, keccak), verdictOf }
}

test('the first header of a run goes on from the record that its head is the hash of', async () => {
  const { run, beginning, verdictOf } = await exported(readings(5, 8), {})
  expect(await verdictOf(run)).toBe('proven')
  const { before, ...without } = run
  expect(await verdictOf(without)).toBe('not a manifest')
  for (const other of [beginning, { ...before!, n: before!.n.with(3, 0) }, { ...before!, last: 9 }])
    expect(await verdictOf({ ...run, before: other })).toMatch(
      /^the header of batch 2 is at fault: (index|prevHead)$/,
    )
  expect(await verdictOf({ ...run, before: { ...before!, n: [1] } })).toBe(
    'there are 16 partitions, not 1',
  )
})

test('a first header that claims numbers of the batch before is refused', async () => {
  // the contract counts four: up to number 8, after number 4
  const { run, verdictOf } = await exported(readings(1, 8), {
    counts: (counts) => counts.with(3, 4),
    header: (header) => ({ ...header, count: 8, nFirst: header.nFirst.with(3, 1) }),
  })
  expect(await verdictOf(run)).toBe('the header of batch 2 is at fault: nFirst')
})
