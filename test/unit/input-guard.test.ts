import { expect, test } from 'vitest'
import { inputGuard } from '../../gate/input-guard.ts'
import { openSpool } from '../../gate/push/spool.ts'
import { drainSpool } from '../../gate/push/spool-drain.ts'
import { openLog } from '../../runtime/log.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('each failure is counted, and a device that causes many does not fill the log', () => {
  const counted: string[] = []
  const logged: unknown[] = []
  let nowMs = 0
  const guard = inputGuard({
    count: (loop) => counted.push(loop),
    log: { error: (fields: unknown) => void logged.push(fields) },
    nowMs: () => nowMs,
  })
  const handle = guard.callback('publish', (text: string) => void JSON.parse(text))
  for (let i = 0; i < 100; i++) handle('no JSON')
  handle('{}')
  expect(counted).toEqual(Array.from({ length: 100 }, () => 'publish'))
  expect(logged).toHaveLength(3)
  nowMs = 60_000
  handle('no JSON')
  expect(logged.at(-1)).toMatchObject({ loop: 'publish', notShown: 97 })
})

test('what a stream will never take does not keep back what waits after it', async () => {
  using folder = temporaryFolder()
  const spool = await openSpool({ folder: folder.path, maxBytes: 1_000_000 })
  if (spool === undefined) throw new Error('another process has the folder')
  await using _spool = spool
  const sent: string[] = []
  for (const body of ['1', 'too long', '2']) await spool.append({ sensor: 'A', body })
  await using _drain = drainSpool({
    spool,
    publish: (_sensor, body) => {
      if (body === 'too long') return Promise.resolve('refused')
      sent.push(body)
      return Promise.resolve('stored')
    },
    log: openLog({ name: 'test', level: 'silent' }),
  })
  await eventually('the spool is empty', () => spool.bytes() === 0)
  expect(sent).toEqual(['1', '2'])
})
