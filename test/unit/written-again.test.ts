/** What 0.1 handed out is written byte for byte the same today. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { manifestText, parseManifest } from '../../cli/export/export-manifest.ts'
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'
import { valuesOf } from '../../core/air/values.ts'
import { type Hex, hashBytes } from '../../core/hex.ts'
import { bundleText } from '../../core/proof/bundle.ts'
import { createKeccak } from '../../runtime/keccak.ts'
import { deviceWord } from '../support/signing-device.ts'

const keccak = await createKeccak()
const folder = 'test/fixtures/bundles'
const samples = readdirSync(folder).filter((name) => name.endsWith('.airproof.json'))

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

function reading1({ sensor_id, time_ms, seq, aqi, ...values }: Wire) {
  return { reading: { ...common({ sensor_id, time_ms, seq, aqi }), values: valuesOf(values) } }
}

function reading2(wire: Wire2) {
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

test.each(samples)('the bundle %s', (name) => {
  const text = readFileSync(`${folder}/${name}`, 'utf8')
  const { reading, path, batch, anchor, ...rest } = JSON.parse(text)
  const is2 = name.startsWith('v2-')
  const made = bundleText(
    {
      ...(is2 ? reading2(reading) : reading1(reading)),
      path: path.map((node: Hex) => hashBytes(node)),
      header: {
        ...(is2 ? { version: 2 as const } : {}),
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
      },
      chain: {
        chainId: anchor.chain_id,
        contract: anchor.contract,
        txHash: anchor.tx_hash,
        txIndex: anchor.tx_index,
        blockHash: anchor.block_hash,
        blockNumber: anchor.block_number,
        blockTimeS: anchor.block_time_s,
        tries: {
          blockHeader: rest.block_header,
          transaction: rest.transaction_proof,
          receipt: rest.receipt_proof,
        },
      },
    },
    keccak,
  )
  expect(made).toBe(text)
})

test.each(['all.ndjson', 'part.csv'])('the manifest of %s', (name) => {
  const text = readFileSync(`test/fixtures/export-0.1/${name}.manifest.json`, 'utf8')
  const manifest = parseManifest(text)
  expect(manifest && manifestText(manifest)).toBe(text)
})
