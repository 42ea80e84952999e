import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'

test('one that leaves a process running', () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], {
    detached: true,
    stdio: 'ignore',
  })
  child.unref()
  expect(child.pid).toBeGreaterThan(1)
})
