/**
 * Made the sample bundles, once: `node test/support/make-bundles.ts`. They stay as they are,
 * for verifications in years to come; run it only to add one.
 */
import { existsSync, writeFileSync } from 'node:fs'
import type { SignatureAlgorithm } from '../../core/air/device-signature.ts'
import type { LeafFields2 } from '../../core/proof/leaf.ts'
import {
  type AnchoredOptions,
  type AnchoredReading,
  anchoredBatch,
  someReadings,
  someReadings2,
} from './anchored.ts'
import { testAnvil } from './anvil.ts'
import { deviceWord, signingDevice } from './signing-device.ts'

type Sample = Omit<AnchoredOptions, 'after'> & {
  readonly name: string
  readonly pick: number
  /** How many readings are anchored in a contract of version 1 before. */
  readonly former?: number
}

/** The reading at `at` is signed, by a sensor that writes its numbers as no computer does. */
function withSigned(
  readings: readonly LeafFields2[],
  at: number,
  algorithm: SignatureAlgorithm,
): AnchoredReading[] {
  const { sensor, timeMs } = readings[at]!
  // 34.005 is 34.01, and no sensor measures 900 °C
  const lines = ['co2=4.16e2', 'humidity=65', 'pm10=34.005', 'pm25=22.70', 'temperature=900']
  const text = ['airproof.device.v1', sensor, timeMs, ...lines, 'vendor_x=-1'].join('\n')
  const signed = signingDevice(algorithm).sign(text)
  const values = [2270, 3401, 41_600, null, 6500]
  const reading = { ...readings[at]!, values, flags: 8, device: deviceWord(signed), signed }
  return readings.map((one, n) => (n === at ? reading : one))
}

const samples: readonly Sample[] = [
  { name: 'alone', readings: someReadings(1), pick: 0 },
  { name: 'in-a-city', readings: someReadings(1_000), heartbeats: 2, pick: 421 },
  { name: 'old-style', readings: someReadings(5), type: 'legacy', pick: 3 },
  { name: 'access-list', readings: someReadings(7), type: 'eip2930', pick: 6 },
  { name: 'in-a-crowd', readings: someReadings(64), crowd: 200, pick: 30 },
  { name: 'beside-a-deposit', readings: someReadings(16), hasDeposit: true, crowd: 3, pick: 9 },
  { name: 'v2-alone', contract: 2, readings: someReadings2(1), pick: 0 },
  { name: 'v2-in-a-city', contract: 2, readings: someReadings2(1_000), heartbeats: 2, pick: 421 },
  // the last of 19 leaves goes up as it is, three times
  { name: 'v2-promoted', contract: 2, readings: someReadings2(19), type: 'legacy', pick: 15 },
  {
    name: 'v2-after-the-border',
    contract: 2,
    former: 32,
    readings: someReadings2(21, 2),
    type: 'eip2930',
    pick: 4,
  },
  {
    name: 'v2-ed25519',
    contract: 2,
    readings: withSigned(someReadings2(33), 7, 'ed25519'),
    crowd: 40,
    pick: 7,
  },
  // not valid: number 1 is counted by the contract, and the batch does not hold it
  {
    name: 'v2-left-out',
    contract: 2,
    readings: someReadings2(1, 1),
    counts: [2],
    claims: { count: 1, nFirst: [2, ...Array.from({ length: 15 }, () => 1)] },
    pick: 0,
  },
  // not valid: log sequence 1 is in no batch
  { name: 'v2-gap', contract: 2, readings: someReadings2(1), claims: { first: 2 }, pick: 0 },
  { name: 'v2-p256', contract: 2, readings: withSigned(someReadings2(33), 8, 'p256'), pick: 8 },
]

for (const { name, pick, former, ...options } of samples) {
  const file = `test/fixtures/bundles/${name}.airproof.json`
  if (existsSync(file)) continue
  await using anvil = await testAnvil({ args: options.hasDeposit ? ['--optimism'] : [] })
  const after =
    former === undefined
      ? undefined
      : await anchoredBatch(anvil, { readings: someReadings(former) })
  const { bundles, chain } = await anchoredBatch(anvil, { ...options, ...(after && { after }) })
  writeFileSync(file, bundles[pick] ?? '')
  console.log(
    `${file}: ${bundles[pick]?.length} bytes, tx ${chain.txIndex}, ${chain.tries ? 'proof' : 'rpc'}`,
  )
}
