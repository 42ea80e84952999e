import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freePort } from '../../runtime/machine/free-port.ts'

// by chance alone, two processes would be given the same port in all but one of 1,700 runs
const count = 300

test('neither a process nor another beside it is given a free port twice', async () => {
  const ports: number[] = []
  for (let i = 0; i < count; i++) ports.push(await freePort())
  const { href } = new URL('../../runtime/machine/free-port.ts', import.meta.url)
  const program = `
    import { freePort } from '${href}'
    for (let i = 0; i < ${count}; i++) console.log(await freePort())
    process.exit()`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    program,
  ])
  ports.push(...stdout.trim().split('\n').map(Number))
  expect(new Set(ports).size).toBe(2 * count)
})
