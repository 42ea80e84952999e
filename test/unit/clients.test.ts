import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { madeHere } from '../../clients/generate/generated.ts'

test('the clients are as `npm run clients` makes them from the document and the verifiers', async () => {
  const made = await madeHere()
  expect(made.size).toBeGreaterThan(4)
  for (const [file, text] of made) {
    // not toBe: the difference of two long texts takes a minute to show
    const isSame = readFileSync(file, 'utf8') === text
    expect(isSame, `run npm run clients: ${fileURLToPath(file)} is an older one`).toBe(true)
  }
})
