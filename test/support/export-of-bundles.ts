/** Exports of one row a batch, made from sample bundles: the path of a leaf is also the proof of many, of one. */
import { readFileSync } from 'node:fs'
import { decodeFunctionData, fromRlp, numberToHex, parseTransaction } from 'viem'
import { registryAbi2 } from '../../anchor/contract/abi.ts'
import type { ExportedRow } from '../../cli/export/row-line.ts'
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import { type Hex, hashBytes } from '../../core/hex.ts'
import type { ChainRecord } from '../../core/proof/chain-record.ts'
import type { BatchHeader } from '../../core/proof/header.ts'
import type { LeafFields } from '../../core/proof/leaf.ts'
import { unpackNumbers } from '../../core/proof/packed-numbers.ts'
import { rankOf } from '../../core/proof/tree.ts'
import type { ExportManifest } from '../../operate/exports/export-manifest.ts'
import { deviceWord } from './signing-device.ts'

type Wire = {
  readonly sensor_id: string
  readonly time_ms: number
  readonly seq: number
  readonly aqi: number | null
}
type Wire2 = Wire & {
  readonly area: string
  readonly flags: number
  readonly values: readonly (readonly [id: number, value: number])[]
  readonly device: (Omit<DeviceSignature, 'publicKey'> & { readonly public_key: string }) | null
}

const common = ({ sensor_id: sensor, time_ms: timeMs, seq, aqi }: Wire) => ({
  sensor: sensor as SensorId,
  timeMs,
  seq,
  aqi,
})

type Given = { readonly reading: LeafFields; readonly signature?: DeviceSignature }

function given1({ sensor_id, time_ms, seq, aqi, ...values }: Wire): Given {
  return { reading: { ...common({ sensor_id, time_ms, seq, aqi }), values: valuesOf(values) } }
}

function given2(wire: Wire2): Given {
  const { area, flags, values, device } = wire
  const named = values.map(([id, value]) => [quantityNames[id], value])
  const reading = {
    ...common(wire),
    leafVersion: 2 as const,
    area,
    flags,
    values: valuesOf(Object.fromEntries(named)),
  }
  if (device === null) return { reading }
  const { public_key: publicKey, ...rest } = device
  const signature = { ...rest, publicKey }
  return { reading: { ...reading, device: deviceWord(signature) }, signature }
}

/** What `bundleText` makes a sample from. */
export function partsOfBundle(text: string) {
  const { format, reading, reading_hash, path, batch, anchor, ...tries } = JSON.parse(text)
  const is2 = format === 'airproof.proof.v2'
  const header: BatchHeader = {
    ...(is2 && { version: 2 as const }),
    index: batch.index,
    prevHead: batch.prev_head,
    root: batch.root,
    first: batch.first,
    last: batch.last,
    count: batch.count,
    timeMinMs: batch.time_min_ms,
    timeMaxMs: batch.time_max_ms,
    sealedMs: batch.sealed_ms,
    beacon: batch.beacon,
    nFirst: batch.n_first,
    nLast: batch.n_last,
  }
  return {
    ...(is2 ? given2(reading) : given1(reading)),
    hash: reading_hash as Hex,
    path: path.map((node: Hex) => hashBytes(node)) as Uint8Array[],
    header,
    chain: {
      chainId: anchor.chain_id,
      contract: anchor.contract,
      txHash: anchor.tx_hash,
      txIndex: anchor.tx_index,
      blockHash: anchor.block_hash,
      blockNumber: anchor.block_number,
      blockTimeS: anchor.block_time_s,
      tries: {
        blockHeader: tries.block_header,
        transaction: tries.transaction_proof,
        receipt: tries.receipt_proof,
      },
    },
  }
}

/** A transaction of contract 2 names the record before. @param nodes from the root to the transaction */
function recordBefore(nodes: readonly Hex[]): ChainRecord {
  const leaf = fromRlp(nodes.at(-1)!)
  const { data = '0x' } = parseTransaction(leaf[1] as Hex)
  const { args } = decodeFunctionData({ abi: registryAbi2, data })
  const [{ index, last, n, ...hashes }] = args as Extract<typeof args, { readonly length: 5 }>
  const [first, second, third] = n.map((word) => numberToHex(word, { size: 32 }))
  return {
    ...hashes,
    index: Number(index),
    last: Number(last),
    n: unpackNumbers([first!, second!, third!]),
  }
}

export const sampleParts = (name: string) =>
  partsOfBundle(readFileSync(`test/fixtures/bundles/${name}.airproof.json`, 'utf8'))

/** @param names of samples, each of another batch; one of version 1 must be alone in its batch */
export function exportOfBundles(...names: readonly string[]) {
  const parts = names.map(sampleParts)
  const rows = parts.map(
    ({ reading, hash, header, signature }): ExportedRow => ({
      reading,
      hash,
      batch: header.index,
      ...(signature && { signature }),
    }),
  )
  const manifest: ExportManifest = {
    ...(rows.some(({ reading }) => reading.leafVersion === 2) && { version: 2 as const }),
    rows: {
      file: 'rows.ndjson',
      format: 'ndjson',
      sha256: '0'.repeat(64),
      count: rows.length,
      notAnchored: 0,
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-02T00:00:00Z',
    },
    runs: parts.map(({ reading, path, header, chain }) => {
      const before = header.version === 2 && { before: recordBefore(chain.tries.transaction) }
      const place = header.version === 2 ? (rankOf(header, reading.seq) ?? -1) : 0
      const proof = { index: header.index, rows: 1, places: [[place, place]], siblings: path }
      return { ...before, headers: [header], proofs: [proof as never], chain }
    }),
  }
  return { rows, manifest }
}
