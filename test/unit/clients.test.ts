import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { streamEventNames } from '../../api/stream/event-names.ts'
import { madeHere } from '../../clients/generate/generated.ts'
import { eventNames } from '../../clients/typescript/src/stream.ts'

test('the clients are as `npm run clients` makes them from the document and the verifiers', async () => {
  const made = await madeHere()
  expect(made.size).toBeGreaterThan(4)
  for (const [file, text] of made) {
    // not toBe: the difference of two long texts takes a minute to show
    const isSame = readFileSync(file, 'utf8') === text
    expect(isSame, `run npm run clients: ${fileURLToPath(file)} is an older one`).toBe(true)
  }
})

test('both packages know every event of a stream', () => {
  expect(eventNames).toEqual(streamEventNames)
  const python = readFileSync('clients/python/src/airproof/_stream.py', 'utf8')
  for (const name of streamEventNames) expect(python).toContain(`\`${name}\``)
})
