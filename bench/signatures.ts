/**
 * What signed readings cost the pipeline before they are judged:
 * `node bench/signatures.ts [--readings 20000]` prints one JSON document: verifications per second of
 * one core's time, and the CPU (all threads) of decoding and judging a reading that is not signed, below
 * and at format level 3, and of one that is. The whole pipeline is beside it in `pipeline`.
 */
import { parseArgs } from 'node:util'
import { from, lastValueFrom } from 'rxjs'
import { partitionOf, sensorIdRules } from '../core/air/sensor-id.ts'
import { judgeBatches } from '../pipeline/batches.ts'
import { createCheckSignature } from '../pipeline/decide/check-signatures.ts'
import { batchMessages, type RawBatch } from '../pipeline/intake/raw-message.ts'
import { isSignedBy, openKey } from '../runtime/device-key.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { inParallel } from '../runtime/in-parallel.ts'
import { parseSensor, type RegisteredSensor } from '../schemas/devices/registered-sensor.ts'
import type { FormatLevel } from '../schemas/format-level.ts'
import { createSigner, type Signer, signedBody, textOf } from '../test/support/device-signer.ts'
import { drift } from './pipeline-city.ts'

const { values: flags } = parseArgs({ options: { readings: { type: 'string', default: '20000' } } })
const readings = Number(flags.readings)
const sensor = 'NGR-LOS-IKJ-017'
const startMs = Date.UTC(2026, 0, 15)
const checkSignature = createCheckSignature(await createKeccak())
const algorithms = ['ed25519', 'p256'] as const

function registered(signer?: Signer): RegisteredSensor {
  const entry = {
    id: sensor,
    cadence_seconds: 300,
    created_at: '',
    sites: [{ from: '2020-01-01T00:00:00Z', area: 'Ikeja', lat: 0, lon: 0, address: '' }],
    ...(signer && {
      keys: [
        {
          algorithm: signer.algorithm,
          public_key: signer.publicKey,
          from: '2020-01-01T00:00:00Z',
        },
      ],
    }),
  }
  const parsed = parseSensor(entry, sensorIdRules())
  if (parsed === undefined) throw new RangeError('the entry of the benchmark is not valid')
  return parsed
}

const textsAt = (i: number): (readonly [string, string])[] =>
  Object.entries(drift(0, i, () => 0.5))
    .map(([name, value]) => [name, ((value ?? 0) / 100).toFixed(2)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

function batchesOf(signer?: Signer): RawBatch[] {
  const unsigned = { sign: () => Buffer.alloc(0) }
  const messages = Array.from({ length: readings }, (_, i) => {
    const timeMs = startMs + i * 1_000
    const body = signedBody(signer ?? unsigned, { sensor, timeMs, values: textsAt(i) })
    const data = new TextEncoder().encode(signer ? body : body.replace(',"sig":""', ''))
    return { seq: i + 1, arrivedMs: timeMs, sensor, isAgain: false, data }
  })
  return Array.from({ length: Math.ceil(readings / batchMessages) }, (_, at) =>
    messages.slice(at * batchMessages, (at + 1) * batchMessages),
  )
}

type Cost = {
  readonly cpuUs: number
  readonly perSecond: number
  readonly perSecondAndCore: number
}

async function measured(work: () => Promise<void>): Promise<Cost> {
  const before = process.cpuUsage()
  const beganMs = performance.now()
  await work()
  const ms = performance.now() - beganMs
  const { user, system } = process.cpuUsage(before)
  const cpuUs = (user + system) / readings
  return {
    cpuUs: Number(cpuUs.toFixed(2)),
    perSecond: Math.round((readings / ms) * 1_000),
    perSecondAndCore: Math.round(1e6 / cpuUs),
  }
}

/** The best of three: what else the machine does is not the cost of a reading. */
async function best(work: () => Promise<void>): Promise<Cost> {
  const costs: Cost[] = []
  for (let round = 0; round < 3; round++) costs.push(await measured(work))
  return costs.toSorted((a, b) => a.cpuUs - b.cpuUs)[0]!
}

async function judging(level: FormatLevel, signer?: Signer): Promise<Cost> {
  const batches = batchesOf(signer)
  const known = registered(signer)
  const options = {
    partition: partitionOf(sensor),
    sensorOf: () => known,
    earliestMs: 0,
    mayBeLate: () => true,
    level: { current: () => level },
    registryBarrier: async () => undefined,
    checkSignature,
  }
  return await best(async () => {
    const { messages } = await lastValueFrom(from(batches).pipe(judgeBatches(options)))
    const refused = messages.flatMap(({ items }) => items).find((item) => 'reason' in item)
    if (refused !== undefined) throw new Error(`refused: ${JSON.stringify(refused)}`)
  })
}

async function verifying(signer: Signer): Promise<Cost> {
  const key = openKey(signer)
  if (key === undefined) throw new RangeError('the key of the benchmark is not valid')
  const signed = Array.from({ length: readings }, (_, i) => {
    const text = textOf(sensor, startMs + i, textsAt(i))
    return { text, signature: signer.sign(text) }
  })
  return await best(() =>
    inParallel(signed, 32, async ({ text, signature }) => {
      if (!(await isSignedBy(signer, key, text, signature))) throw new Error('a bad signature')
    }),
  )
}

const results: Record<string, unknown> = {
  unsigned: { level2: await judging(2), level3: await judging(3) },
}
for (const algorithm of algorithms) {
  const signer = createSigner(algorithm)
  results[algorithm] = { verification: await verifying(signer), judged: await judging(3, signer) }
}
process.stdout.write(`${JSON.stringify({ bench: 'signatures', readings, ...results }, null, 2)}\n`)
