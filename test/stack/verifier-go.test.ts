/** The verifier in Go: it accepts and refuses the same as the one that is published. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { sampleFile, sampleNames, tampered, trustsOfSamples } from '../support/tampered.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wrongNetworks } from '../support/wrong-networks.ts'

const run = async (command: string, args: readonly string[]) => {
  try {
    const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 2 ** 24 })
    return { code: 0, stdout, stderr: '' }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr: stderr || String(error) }
  }
}

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())
const verifier = join(folder.path, 'verify')
const go = await run('go', ['version'])
const built = await run('go', ['build', '-C', 'examples/verify-go', '-o', verifier, '.'])
// without Go, or without a way to the one module that it needs
const isAway = go.code !== 0 || /dial tcp|no such host|i\/o timeout/.test(built.stderr)
const noGo = isAway ? ' (no go on PATH, or no way to its module)' : ''

test.skipIf(noGo !== '')(`it builds, and proves the same bundles${noGo}`, async () => {
  expect(built).toMatchObject({ code: 0 })
  const { code, stdout } = await run(verifier, sampleNames.map(sampleFile))
  expect(code).toBe(0)
  expect(stdout.match(/: proven, on a demonstration chain$/gm)).toHaveLength(sampleNames.length)
  const count = (printed: RegExp): number => stdout.match(printed)?.length ?? 0
  for (const { words, samples } of trustsOfSamples)
    expect(stdout.split(words)).toHaveLength(samples.length + 1)
  const ofVersion2 = sampleNames.filter((name) => name.startsWith('v2')).length
  expect([
    count(/proven: this is reading number/g),
    count(/on trust: no other reading has the same number/g),
    count(/proven: it was made by the holder/g),
  ]).toEqual([ofVersion2, sampleNames.length - ofVersion2, 2])
})

test.skipIf(noGo !== '')(`its options may be after the files${noGo}`, async () => {
  const files = sampleNames.slice(0, 2).map(sampleFile)
  const [first = '', second = ''] = files
  const pin = ['--chain-id', '1']
  for (const args of [
    [...pin, first, second],
    [first, ...pin, second],
    [first, second, ...pin],
  ]) {
    const { code, stdout } = await run(verifier, args)
    expect([code, stdout.match(/: refused, pins: /g)?.length]).toEqual([1, 2])
  }
  expect((await run(verifier, [first, '--', second])).code).toBe(0)
  // after -- there are only files, of which there is no such one
  expect((await run(verifier, [first, '--', ...pin])).code).toBe(2)
  expect((await run(verifier, [first, '--other'])).code).toBe(2)
})

test.skipIf(noGo !== '')(
  `it refuses the same tampered ones, at the same check${noGo}`,
  async () => {
    const files = tampered.map(({ text }, n) => {
      const path = join(folder.path, `${n}.airproof.json`)
      writeFileSync(path, text)
      return path
    })
    const { code, stdout } = await run(verifier, files)
    expect(code).toBe(1)
    const printed = stdout
      .trim()
      .split('\n')
      .map((line) => /: refused, ([a-z ]+):/.exec(line)?.[1])
    expect(printed).toEqual(tampered.map(({ check }) => check))
  },
)

test.skipIf(noGo !== '')(`it pins what it is asked to${noGo}`, async () => {
  const file = sampleFile('v2-alone')
  for (const [option, value] of [
    ['-chain-id', '1'],
    ['-contract', `0x${'00'.repeat(20)}`],
    ['-block-hash', `0x${'00'.repeat(32)}`],
  ] as const) {
    const { code, stdout } = await run(verifier, [option, value, file])
    expect([code, stdout]).toEqual([1, expect.stringMatching(/refused, (?:pins|trusted block):/)])
  }
  expect((await run(verifier, ['-contract', '0x12', file])).code).toBe(2)
})

test.skipIf(noGo !== '')(`it takes and refuses the same network files${noGo}`, async () => {
  expect(
    await wrongNetworks((network, file) => run(verifier, ['-network', network, file])),
  ).toEqual([])
})
