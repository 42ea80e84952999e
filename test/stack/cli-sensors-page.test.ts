import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { expect, it } from 'vitest'
import { partitionOf } from '../../core/sensor-id.ts'
import { ensureStreams } from '../../runtime/streams.ts'
import type { RawReading } from '../../schemas/raw-reading.ts'
import { rawStream } from '../../schemas/subjects.ts'
import { testNats } from '../support/nats.ts'

const root = join(import.meta.dirname, '../..')

it('the Node example for sensors stores a reading as it says', async () => {
  const page = readFileSync(join(root, 'docs/sensors.md'), 'utf8')
  const [, source = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? []
  await using nats = await testNats()
  const nc = await nats.connect()
  await ensureStreams(nc)
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    cwd: root,
    env: { NATS_URL: nats.url, PATH: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', (data: Buffer) => (said += data.toString()))
  child.stderr.on('data', (data: Buffer) => (said += data.toString()))
  await once(child, 'close')

  const stream = rawStream(partitionOf('NGR-LOS-IKJ-017'))
  expect(said).toBe(`stored as ${stream} 1\n`)
  const manager = await jetstreamManager(nc)
  const stored = await manager.streams.getMessage(stream, { seq: 1 })
  expect(stored?.json<RawReading>()).toMatchObject({ pm25: 45.3, pm10: 78.2 })
  await nc.close()
})
