import { expect, test } from 'vitest'
import { freePort } from '../../runtime/machine/free-port.ts'

// by chance alone, two of that many would be the same in all but one of 40 runs
const count = 300

test('a process is never given the same free port twice', async () => {
  const ports = new Set<number>()
  for (let i = 0; i < count; i++) ports.add(await freePort())
  expect(ports.size).toBe(count)
})
