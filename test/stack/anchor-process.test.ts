/** The anchor as whole processes: killed at any moment, and its chain with it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { ensureContract } from '../../anchor/deploy/ensure-contract.ts'
import { openSealedBatches } from '../../anchor/sealed-batches.ts'
import { beforeFirst } from '../../core/proof/batch.ts'
import { startAnvil } from '../../runtime/engines/anvil.ts'
import { findAnvil } from '../../runtime/engines/find-anvil.ts'
import { createKeccak } from '../../runtime/keccak.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { freePort } from '../../runtime/machine/free-port.ts'
import { ensureStreams } from '../../runtime/nats/streams.ts'
import { environment } from '../../runtime/process/config.ts'
import { oneEach, toldOn } from '../support/chain/anchor-network.ts'
import { seededChance } from '../support/chain/chance.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { eventually } from '../support/eventually.ts'
import { signInAs, testNats } from '../support/nats.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const env = environment()
const keccak = await createKeccak()
const stop = new AbortController().signal

async function anchorOn(folder: string, settings: Record<string, string>): Promise<Child> {
  const said: string[] = []
  const child = await startChild({
    command: process.execPath,
    args: ['bin/airproof.mjs', 'anchor'],
    env: { ...env, AIRPROOF_DATA: folder, AIRPROOF_ADMIN_PORT: '0', ...settings },
    onLine: (line) => {
      said.push(line)
      if (said.length > 20) said.shift()
    },
  })
  return child
}

test('kill -9 of the anchor and of its chain at random moments leaves one anchor a batch', async () => {
  using folder = temporaryFolder()
  await using opened = new AsyncDisposableStack()
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const command = await findAnvil(env)
  if (command === undefined) throw new Error('no anvil on this machine')
  const port = await freePort()
  const chainFolder = join(folder.path, 'chain')
  const keyFile = join(folder.path, 'anchor.key')
  const key = generatePrivateKey()
  writeFileSync(keyFile, key, { mode: 0o600 })
  const account = privateKeyToAccount(key)
  const url = `http://127.0.0.1:${port}`
  const contract = ensureContract({ url, account, stop })
  const startChain = async () => {
    const anvil = await startAnvil({ command, folder: chainFolder, port, env })
    if (await contract.ensure()) await anvil.keepState()
    return anvil
  }
  let chain = await startChain()
  opened.defer(async () => void (await chain.stop()))
  const address = await contract.remember(nc)
  const start = beforeFirst(31_337, address, keccak)
  const batches = opened.use(await openSealedBatches(nc, start))

  const settings = {
    NATS_URL: nats.url,
    ...signInAs('anchor'),
    CHAIN_RPC_URL: url,
    ANCHOR_KEY_FILE: keyFile,
    ANCHOR_INTERVAL: '200ms',
    ANCHOR_POLL: '100ms',
    AIRPROOF_LOG: 'warn',
  }
  const mine = async (): Promise<void> => {
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] }),
    }).then(
      (response) => response.text(),
      () => '',
    )
  }
  const log = logWriter(nc)
  const chance = seededChance(11)
  let anchor = await anchorOn(folder.path, settings)
  opened.defer(async () => void (await anchor.stop()))
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
    anchor.kill('SIGKILL')
    await anchor.exited
    if (round % 2 === 1) {
      chain.kill('SIGKILL')
      await chain.exited
      writeFileSync(join(chainFolder, 'state.json'), '{"torn": ')
      chain = await startChain()
    }
    anchor = await anchorOn(folder.path, settings)
  }
  // the last one has work too
  const last = await log.write({ readings: 20 })
  await eventually(
    'everything is final',
    async () => {
      await mine()
      await batches.barrier()
      const index = batches.last()
      return batches.get(index)?.header.last === last && batches.anchored(index)?.status === 'final'
    },
    { withinMs: 40_000, everyMs: 50 },
  )
  expect(await anchor.stop()).toEqual({ code: 0, signal: null })
  expect(await toldOn(nc, url, address)).toEqual(oneEach(batches.last()))
  const readings = Array.from(
    { length: batches.last() },
    (_, i) => batches.get(i + 1)?.header.count ?? 0,
  ).reduce((sum, count) => sum + count, 0)
  expect(readings).toBe(420)
})

test.each([
  ['no chain', {}, 'no chain to anchor to: set CHAIN_RPC_URL'],
  ['no key file', { ANCHOR_KEY_FILE: 'missing.key' }, 'cannot read the anchor key'],
])('with %s it ends at once, with a line for a person', async (_what, over, words) => {
  using folder = temporaryFolder()
  await using nats = await testNats()
  const keyFile = join(folder.path, 'anchor.key')
  writeFileSync(keyFile, generatePrivateKey(), { mode: 0o600 })
  const said: string[] = []
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
    onLine: (line) => said.push(line),
  })
  expect(await child.exited).toEqual({ code: 1, signal: null })
  expect(said.join('\n')).toContain(words)
})
