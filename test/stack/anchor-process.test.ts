/** The anchor as whole processes: killed at any moment, and its chain with it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import { expect, test } from 'vitest'
import { readAnchorStatus } from '../../operate/anchor-status.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { environment } from '../../runtime/process/config.ts'
import { anchorInstance } from '../support/chain/anchor-instance.ts'
import { oneEach, toldOn } from '../support/chain/anchor-network.ts'
import { seededChance } from '../support/chain/chance.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const env = environment()

test('kill -9 of the anchor and of its chain at random moments leaves one anchor a batch', async () => {
  using folder = temporaryFolder()
  await using opened = new AsyncDisposableStack()
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const instance = await anchorInstance({ nc, natsUrl: nats.url, folder: folder.path, opened })
  const { batches, mine } = instance
  const log = logWriter(nc)
  const chance = seededChance(11)
  for (let round = 0; round < 5; round++) {
    const before = batches.last()
    for (let i = 0; i < 4; i++) {
      await log.write({ readings: 20, partition: i })
      await mine()
    }
    // somewhere between "read" and "final", another place each time
    await eventually('it got on', () => batches.last() > before)
    const deadlineMs = performance.now() + chance() * 600
    while (performance.now() < deadlineMs) await mine()
    await instance.killAnchor()
    if (round % 2 === 1) await instance.killChain()
  }
  // the last one has work too
  const last = await log.write({ readings: 20 })
  await eventually(
    'everything is final',
    async () => {
      await mine()
      return await instance.isFinal(last)
    },
    { everyMs: 50 },
  )
  const all = batches.last()
  // the journal has it a moment after the record that it is final
  const status = await eventually('its alarms end, and nothing is sent', async () => {
    const read = await readAnchorStatus(nc, 420)
    const isQuiet = read.alarms.length === 0 && read.batches?.sent === 0
    return read.alarms_since !== null && isQuiet && read
  })
  expect(status.batches).toEqual({ sealed: all, sent: 0, final: all })
  expect(status.worker).toEqual(expect.any(String))
  expect(await instance.anchor().stop()).toEqual({ code: 0, signal: null })
  expect(await toldOn(nc, instance.url, instance.address)).toEqual(oneEach(batches.last()))
  const readings = Array.from(
    { length: batches.last() },
    (_, i) => batches.get(i + 1)?.header.count ?? 0,
  ).reduce((sum, count) => sum + count, 0)
  expect(readings).toBe(420)
})

test.each([
  ['no chain', {}, 'no chain to anchor to: set CHAIN_RPC_URL'],
  ['no key file', { ANCHOR_KEY_FILE: 'missing.key' }, 'cannot read the private key'],
])('with %s it ends at once, with a line for a person', async (_what, over, words) => {
  using folder = temporaryFolder()
  await using nats = await testNats()
  const keyFile = join(folder.path, 'anchor.key')
  writeFileSync(keyFile, generatePrivateKey(), { mode: 0o600 })
  const printed: string[] = []
  const child = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', 'anchor'],
    env: {
      ...env,
      AIRPROOF_DATA: folder.path,
      NATS_URL: nats.url,
      ANCHOR_KEY_FILE: keyFile,
      ...over,
    },
    onLine: (line) => printed.push(line),
  })
  expect(await child.exited).toEqual({ code: 1, signal: null })
  expect(printed.join('\n')).toContain(words)
})
