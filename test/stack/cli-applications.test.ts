import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../../cli/applications.ts'
import { checkKey, sensorKeyPrefix } from '../../core/access/api-key.ts'
import { formatIso } from '../../core/iso-time.ts'
import { eventually } from '../support/eventually.ts'
import { type TestPush, testPush, ttnUplink } from '../support/push.ts'
import { runCommand } from '../support/run-command.ts'

let push: TestPush
beforeAll(async () => {
  push = await testPush()
})
afterAll(() => push[Symbol.asyncDispose]())

test('an application is added, listed without its secret, renewed with an overlap and removed', async () => {
  const env = { NATS_URL: push.nats.url }
  const run = (words: readonly string[], flags = {}) => runCommand(command, { words, flags, env })
  await push.sensor('NGR-LOS-APP-001', { device: { kind: 'ttn', serial: '70B3D57ED0000001' } })
  const statusWith = async (secret: string): Promise<number> => {
    const at = formatIso(Date.now() - 1_000)
    return (await push.post('/push/ttn', ttnUplink({ at }), { id: 'roofs', secret })).status
  }
  const becomes = (secret: string, status: number) =>
    eventually(`it is ${status}`, async () => (await statusWith(secret)) === status)

  const added = await run(['add', 'roofs'], {
    kind: 'ttn',
    field: ['pm25=pm2_5', 'humidity=humidity'],
    devices: ['70b3d5'],
  })
  expect(added.code).toBe(0)
  expect(checkKey(sensorKeyPrefix, added.out)).toBe('ok')
  expect(added.err).toContain('/push/ttn as user roofs')
  await becomes(added.out, 202)
  expect((await run(['add', 'roofs'], { kind: 'ttn', field: ['pm25=a'] })).code).toBe(1)

  const listed = await run(['list'], { json: true })
  expect(JSON.parse(listed.out)).toMatchObject([
    { id: 'roofs', kind: 'ttn', fields: { pm25: 'pm2_5' }, devices: ['70B3D5'] },
  ])
  expect(listed.out).not.toContain('hash')
  expect((await run(['list'])).out).toMatch(/^roofs +ttn +pm25=pm2_5 humidity=humidity +70B3D5…/m)

  const renewed = await run(['key', 'roofs'], { json: true })
  const { key } = JSON.parse(renewed.out) as { key: string }
  await becomes(key, 202)
  expect(await statusWith(added.out)).toBe(202)
  const last = await run(['key', 'roofs'], { overlap: '0s' })
  await becomes(key, 401)
  await becomes(last.out, 202)

  expect((await run(['remove', 'roofs'])).code).toBe(0)
  await becomes(last.out, 401)
  expect((await run(['remove', 'roofs'])).err).toContain('there is no application roofs')
})

test.each([
  [['add', 'Roofs'], { kind: 'ttn', field: ['pm25=a'] }, "is not an application's id"],
  [
    ['add', 'roofs'],
    { kind: 'lora', field: ['pm25=a'] },
    '--kind must be one of ttn, chirpstack, gateway',
  ],
  [['add', 'roofs'], { kind: 'ttn' }, '--field is needed'],
  [['add', 'roofs'], { kind: 'ttn', field: ['pm99=a'] }, '--field must be NAME=KEY'],
  [['add', 'roofs'], { kind: 'ttn', field: ['pm25=a', 'pm25=b'] }, 'given twice'],
  [['add', 'roofs'], { kind: 'ttn', field: ['pm25=a'], devices: ['xyz'] }, 'devices'],
  [['grow'], {}, 'there is no "grow"'],
])('%j %j is wrong usage, with a sentence', async (words, flags, why) => {
  const env = { NATS_URL: push.nats.url }
  const result = await runCommand(command, { words, flags, env })
  expect(result).toMatchObject({ code: 2, err: expect.stringContaining(why) })
})
