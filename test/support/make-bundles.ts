/**
 * Made the sample bundles, once: `node test/support/make-bundles.ts`. They stay as they are,
 * for verifications in years to come; run it only to add one.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { type AnchoredOptions, anchoredBatch, someReadings } from './anchored.ts'
import { testAnvil } from './anvil.ts'

type Sample = AnchoredOptions & { readonly name: string; readonly pick: number }

const samples: readonly Sample[] = [
  { name: 'alone', readings: someReadings(1), pick: 0 },
  { name: 'in-a-city', readings: someReadings(1_000), heartbeats: 2, pick: 421 },
  { name: 'old-style', readings: someReadings(5), type: 'legacy', pick: 3 },
  { name: 'access-list', readings: someReadings(7), type: 'eip2930', pick: 6 },
  { name: 'in-a-crowd', readings: someReadings(64), crowd: 200, pick: 30 },
  { name: 'beside-a-deposit', readings: someReadings(16), hasDeposit: true, crowd: 3, pick: 9 },
]

for (const { name, pick, ...options } of samples) {
  const file = `test/fixtures/bundles/${name}.airproof.json`
  if (existsSync(file)) continue
  await using anvil = await testAnvil({ args: options.hasDeposit ? ['--optimism'] : [] })
  const { bundles, chain } = await anchoredBatch(anvil, options)
  writeFileSync(file, bundles[pick] ?? '')
  console.log(
    `${file}: ${bundles[pick]?.length} bytes, tx ${chain.txIndex}, ${chain.tries ? 'proof' : 'rpc'}`,
  )
}
