/**
 * What checking a proof costs: bytes of a bundle and milliseconds of the verifier, first
 * in a process of its own, then warm. `node bench/verify.ts` prints one JSON document.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { verifyBundle } from '../anchor/verifier/airproof-verify.js'

const verifier = 'anchor/verifier/airproof-verify.js'
const rounds = 50

const msOf = async (work: () => unknown): Promise<number> => {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
const rounded = (value: number): number => Math.round(value * 100) / 100

const bundles = []
for (const file of globSync('test/fixtures/bundles/*.airproof.json')) {
  const text = readFileSync(file, 'utf8')
  const coldMs = await msOf(() => verifyBundle(text))
  // two samples are there to be refused (docs/proofs.md)
  if ((await verifyBundle(text)).checks.some(({ ok }) => !ok)) continue
  const commandMs = await msOf(() => execFileSync(process.execPath, [verifier, file]))
  const times = []
  for (let n = 0; n < rounds; n++) times.push(await msOf(() => verifyBundle(text)))
  bundles.push({
    bundle: basename(file, '.airproof.json'),
    bytes: text.length,
    firstMs: rounded(coldMs),
    medianMs: rounded(times.toSorted((a, b) => a - b)[rounds / 2] ?? 0),
    commandMs: rounded(commandMs),
  })
}
const largest = Math.max(...bundles.map(({ bytes }) => bytes))
console.log(
  JSON.stringify(
    {
      goal: { bytes: 12_288, ms: 50 },
      largestBytes: largest,
      slowestFirstMs: Math.max(...bundles.map(({ firstMs }) => firstMs)),
      bundles,
    },
    undefined,
    2,
  ),
)
