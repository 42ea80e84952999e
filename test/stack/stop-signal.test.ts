import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { type Child, startChild } from '../../runtime/child.ts'
import { environment } from '../../runtime/config.ts'
import { eventually } from '../support/eventually.ts'

const module = pathToFileURL('runtime/stop-signal.ts').href

/** A process that says `up`, then `stopping`, and does the rest of the script. */
async function startScript(rest: string): Promise<Child & { readonly said: readonly string[] }> {
  const said: string[] = []
  const script = `import { stopSignal, stopped } from '${module}'
const stop = stopSignal()
setInterval(() => {}, 1e6)
console.log('up')
await stopped(stop)
console.log('stopping')
${rest}`
  const child = await startChild({
    command: process.execPath,
    args: ['--input-type=module', '-e', script],
    env: environment(),
    onLine: (line) => said.push(line),
  })
  await eventually('it is up', () => said.includes('up'))
  return { ...child, said }
}

test('the echo of a Ctrl-C is no second one', async () => {
  await using child = await startScript('setTimeout(() => process.exit(0), 100)')
  child.kill('SIGINT')
  child.kill('SIGINT')
  expect(await child.exited).toEqual({ code: 0, signal: null })
})

test('a second SIGTERM ends a process at once that does not come to its end', async () => {
  await using child = await startScript('')
  child.kill('SIGTERM')
  await eventually('the first is heard', () => child.said.includes('stopping'))
  await eventually('the second is heard', () => {
    child.kill('SIGTERM')
    return !child.isAlive()
  })
  expect(await child.exited).toEqual({ code: 143, signal: null })
})
