/** The drill of docs/chain.md to its end, with real processes: nothing is lost, and nothing false is proven. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { createWalletClient, type Hex, http, type PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { expect, test } from 'vitest'
import type { AuditReport } from '../../anchor/audit/audit.ts'
import { auditLines } from '../../anchor/audit/words.ts'
import { encodeAnchorCall } from '../../anchor/contract/registry.ts'
import { run as runAnchor } from '../../anchor/main.ts'
import { readNetwork, verifyBundle } from '../../anchor/verifier/airproof-verify.js'
import { command as anchorCommand } from '../../cli/anchor/anchor.ts'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { formatIsoMs } from '../../core/iso-time.ts'
import { type BatchEnd, endOf, nextHeader } from '../../core/proof/batch.ts'
import { headerHash, recordOf } from '../../core/proof/header.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { exitCodes } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { openLog } from '../../runtime/log.ts'
import { startChild } from '../../runtime/machine/child.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { environment, readSharedConfig } from '../../runtime/process/config.ts'
import {
  type AnchoredEvent,
  anchoredKey,
  type Checked,
  checkedKey,
  headerKey,
  parseSealed,
  type SealedBatch,
} from '../../schemas/anchoring/batch-record.ts'
import { anchoredSubject, buckets, eventsStream } from '../../schemas/subjects.ts'
import { testAnvil } from '../support/anvil.ts'
import { testApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { signInAs } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const keccak = await createKeccak()
const chainId = 99
const ids = ['NGR-LOS-IKJ-001', 'NGR-LOS-YAB-002', 'NGR-LOS-LEK-003'] as const
const nowMs = Math.floor(Date.now() / 1000) * 1000
const patiently = { everyMs: 100 }

/** An instance that was made at format level 3: an API, an anchor that stops and starts, two writers' keys. */
async function instance() {
  await using opened = new AsyncDisposableStack()
  const anvil = opened.use(await testAnvil({ chainId }))
  const api = opened.use(await testApi())
  const folder = opened.use(temporaryFolder())
  for (const id of ids) await api.register({ id })
  const newKey = async (name: string) => {
    const key = generatePrivateKey()
    const file = join(folder.path, name)
    writeFileSync(file, key, { mode: 0o600 })
    const account = privateKeyToAccount(key)
    await anvil.rpc('anvil_setBalance', [account.address, `0x${(10n ** 19n).toString(16)}`])
    return { file, account }
  }
  const keys = {
    stolen: await newKey('stolen.key'),
    other: await newKey('other.key'),
    owner: await newKey('owner.key'),
  }
  const envOf = (key: 'stolen' | 'other') => ({
    AIRPROOF_DATA: folder.path,
    AIRPROOF_LOG: 'silent',
    NATS_URL: api.nats.url,
    CHAIN_RPC_URL: anvil.url,
    ANCHOR_KEY_FILE: keys[key].file,
    ANCHOR_INTERVAL: '100ms',
    ANCHOR_POLL: '50ms',
  })
  const kvm = new Kvm(api.nc)
  const batches = await kvm.open(buckets.batches)
  const entryOf = async <T>(key: string): Promise<T | undefined> => {
    const entry = await batches.get(key)
    return entry?.operation === 'PUT' ? entry.json<T>() : undefined
  }
  const startAnchor = (key: 'stolen' | 'other') => {
    const stop = new AbortController()
    const source = { env: { ...envOf(key), ...signInAs('anchor') }, flags: {} }
    const log = openLog({ name: 'anchor', level: 'silent' })
    const done = runAnchor({ config: readSharedConfig(source), ...source, log, stop: stop.signal })
    done.catch(() => undefined)
    return async (): Promise<void> => {
      stop.abort('test')
      await done
    }
  }
  let stopAnchor: (() => Promise<void>) | undefined
  const stop = async (): Promise<void> => {
    await stopAnchor?.()
    stopAnchor = undefined
  }
  opened.defer(stop)
  let round = 0
  const sealedTo = async (last: number): Promise<number | undefined> => {
    for (let index = 1; ; index++) {
      const sealed = await entryOf<SealedBatch>(headerKey(index))
      if (sealed === undefined) return undefined
      if (sealed.header.last >= last) return index
    }
  }
  const commit = (): Promise<readonly ArrivedReading[]> => {
    round++
    return api.commit(
      Array.from({ length: 20 }, (_, i) =>
        ids.map((sensor) => ({
          sensor,
          timeMs: nowMs - 3_600_000 + round * 60_000 + i * 1_000,
          pm25: 1_000 + i,
          leafVersion: 2 as const,
        })),
      ).flat(),
    )
  }
  const closing = opened.move()
  return {
    anvil,
    api,
    keys,
    stop,
    start: (key: 'stolen' | 'other'): void => {
      stopAnchor = startAnchor(key)
    },
    /** As a process of its own, which can be frozen. */
    startProcess: async (key: 'stolen' | 'other') => {
      const child = await startChild({
        command: process.execPath,
        args: ['bin/airproof.mjs', 'anchor'],
        // of another machine: what a process is called follows from its folder
        env: {
          ...environment(),
          ...envOf(key),
          ...signInAs('anchor'),
          AIRPROOF_DATA: join(folder.path, 'another'),
          AIRPROOF_ADMIN_PORT: '0',
        },
        onLine: () => undefined,
      })
      closing.defer(async () => {
        child.kill('SIGKILL')
        await child.exited
      })
      return child
    },
    commit,
    entryOf,
    /** @returns the readings, and the batch that holds them */
    batch: async (): Promise<readonly [readonly ArrivedReading[], number]> => {
      const readings = await commit()
      const index = await eventually('it is sealed', () => sealedTo(api.lastSeq()))
      return [readings, index]
    },
    final: (index: number) =>
      eventually(
        `batch ${index} is final`,
        async () => {
          await anvil.rpc('anvil_mine', ['0x2'])
          const record = await entryOf<{ status: string }>(anchoredKey(index))
          const checked = await entryOf<Checked>(checkedKey)
          return record?.status === 'final' && (checked?.index ?? 0) >= index
        },
        patiently,
      ),
    finalize: () => anvil.rpc('anvil_mine', ['0x4']),
    deployments: async () => readDeployments(await kvm.open(buckets.anchoring)),
    deploy: (key: 'stolen' | 'other', flags: Record<string, string> = {}) =>
      runCommand(anchorCommand, {
        words: ['deploy'],
        flags: { owner: keys.owner.account.address, json: true, ...flags },
        env: envOf(key),
      }),
    writer: (flags: Record<string, string>) =>
      runCommand(anchorCommand, { words: ['writer'], flags, env: envOf('stolen') }),
    audit: async (more: Record<string, string> = {}) => {
      const env = { ...envOf('other'), AIRPROOF_DATA: dirname(api.storeFile) }
      const flags = { ...more, json: true }
      const { code, out, err } = await runCommand(auditCommand, { flags, env })
      if (out === '') throw new Error(`no report: ${err}`)
      return { code, report: JSON.parse(out) as AuditReport }
    },
    status: async ({ sensor, timeMs }: ArrivedReading) => {
      const path = `/v1/readings/${sensor}/verify?timestamp=${formatIsoMs(timeMs)}`
      const answer = await api.get(path)
      const { status, ledger } = (await answer.json()) as {
        status: string
        ledger: { contract: string } | null
      }
      return [status, ledger?.contract]
    },
    bundle: async ({ sensor, timeMs }: ArrivedReading) => {
      const answer = await api.get(`/proof/${sensor}/${formatIsoMs(timeMs)}.airproof.json`)
      return { code: answer.status, text: await answer.text() }
    },
    network: async () => (await api.get('/v1/network')).text(),
    events: async (index: number): Promise<AnchoredEvent[]> => {
      const manager = await jetstreamManager(api.nc)
      const { state } = await manager.streams.info(eventsStream, { subjects_filter: '>' })
      const all: AnchoredEvent[] = []
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        const message = await manager.streams.getMessage(eventsStream, { seq })
        if (message?.subject === anchoredSubject(index)) all.push(message.json())
      }
      return all
    },
    send: async (account: PrivateKeyAccount, to: Hex, data: Hex): Promise<void> => {
      const chain = { ...foundry, id: chainId }
      const wallet = createWalletClient({ account, chain, transport: http(anvil.url) })
      const hash = await wallet.sendTransaction({ to, data, gas: 200_000n })
      const receipt = await eventually(`${hash} is mined`, async () => {
        const found = await anvil.rpc('eth_getTransactionReceipt', [hash])
        return (found ?? undefined) as { status: Hex } | undefined
      })
      expect(receipt.status).toBe('0x1')
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const junkAfter = (end: BatchEnd) =>
  nextHeader(end, {
    last: end.last + 2,
    sealedMs: 1,
    readings: {
      root: `0x${'ab'.repeat(32)}`,
      timeMinMs: 1,
      timeMaxMs: 2,
      counts: Array.from({ length: 16 }, (_, partition) => (partition === 7 ? 5 : 0)),
    },
  })

test.concurrent('after a theft all that was accepted is anchored in a new contract, and each proof says only what is so', async () => {
  await using city = await instance()
  const { stolen: thief, owner } = city.keys
  expect((await city.deploy('stolen')).code).toBe(0)
  const [former] = await city.deployments()
  city.start('stolen')
  const [good, first] = await city.batch()
  await city.final(first)
  const [kept, last] = await city.batch()
  await city.final(last)
  // batch N is `first`; what follows is in the old contract too, and will not count there
  const isVerified = ['verified', former!.contract]
  expect(await city.status(kept[0]!)).toEqual(isVerified)
  const bundles = [await city.bundle(good[0]!), await city.bundle(kept[0]!)]
  expect(bundles.map(({ code }) => code)).toEqual([200, 200])

  // the thief anchors readings that never were
  await city.stop()
  const header = (await city.entryOf<SealedBatch>(headerKey(last)))!
  const before = parseSealed(header)!.header
  const junk = junkAfter(endOf(before, keccak))
  const call = { ...junk, headerHash: headerHash(junk, keccak), prev: recordOf(before, keccak) }
  await city.send(thief.account, former!.contract, encodeAnchorCall(call))
  city.start('stolen')
  const [waiting, sealedLast] = await city.batch()
  expect(sealedLast).toBeGreaterThan(last)
  await city.finalize()
  await city.stop()

  // the owner shuts the thief out, and a contract with another writer goes on after batch N
  const unseal = { 'anchor-owner-key-file': owner.file, set: 'none' }
  expect((await city.writer(unseal)).code).toBe(0)
  await city.finalize()
  const { code, err } = await city.deploy('other', { 'from-batch': String(first) })
  expect(code).toBe(0)
  expect(err).toContain(`batches ${first + 1} to ${sealedLast} do not count there`)
  const [, renewed] = await city.deployments()
  // nothing is mismatched, and what the old contract held after N is not anchored any more
  await eventually('the API knows the new contract', async () =>
    (await city.network()).includes(renewed!.contract),
  )
  expect(await city.status(kept[0]!)).toEqual(['anchoring', undefined])
  expect((await city.status(good[0]!))[0]).not.toBe('mismatch')
  expect((await city.bundle(kept[0]!)).code).toBe(404)
  expect((await city.bundle(good[0]!)).text).toBe(bundles[0]!.text)

  city.start('other')
  const [later, newest] = await city.batch()
  await city.final(newest)
  expect(await city.status(good[0]!)).toEqual(isVerified)
  const inNew = ['verified', renewed!.contract]
  for (const [reading] of [kept, waiting, later]) expect(await city.status(reading!)).toEqual(inNew)

  // new bundles prove the new contract, and the old ones of batches up to N what they said
  const network = readNetwork(await city.network())
  expect(network.contracts.map(({ address }) => address)).toEqual([
    former!.contract,
    renewed!.contract,
  ])
  const fresh = await Promise.all([good, kept, waiting, later].map(([one]) => city.bundle(one!)))
  expect(fresh[0]!.text).toBe(bundles[0]!.text)
  expect(fresh.map(({ text }) => JSON.parse(text).anchor.contract)).toEqual([
    former!.contract,
    ...Array.from({ length: 3 }, () => renewed!.contract),
  ])
  const rpc = city.anvil.url
  for (const { text } of fresh) {
    const { ok, checks } = await verifyBundle(text, { network, rpc })
    expect([ok, checks.filter((check) => !check.ok)]).toEqual([true, []])
  }
  // one of a batch after N is still a true story of the old contract, which is the network's up to N only
  const given = bundles[1]!.text
  expect((await verifyBundle(given, { rpc })).ok).toBe(true)
  const { ok, checks } = await verifyBundle(given, { network, rpc })
  expect([ok, checks.at(-1)]).toMatchObject([
    false,
    {
      name: 'pins',
      why: expect.stringContaining(`its contract counts up to batch ${first} only`),
    },
  ])

  // the audit is green over both contracts, and says what the old one's tail is
  await city.stop()
  await city.finalize()
  const unnamed = await city.audit()
  expect([unnamed.code, unnamed.report.findings]).toMatchObject([
    1,
    [{ kind: 'abandoned', words: expect.stringContaining(`--theft ${former!.contract}`) }],
  ])
  const { code: audited, report } = await city.audit({ theft: former!.contract })
  expect([audited, report.findings]).toEqual([0, []])
  expect(report.contracts).toMatchObject([
    { first_batch: 1, anchors: first, abandoned_readings: 5 },
    { first_batch: first + 1, abandoned: 0 },
  ])
  const [{ abandoned, abandoned_ours: ours } = { abandoned: 0, abandoned_ours: 0 }] =
    report.contracts
  expect([abandoned, ours]).toEqual([last - first + 1, last - first])
  const lines = auditLines(report).join('\n')
  expect(lines).toContain(
    `${ours} hold the readings of our batches, which a later contract has or will have`,
  )
  expect(lines).toContain(
    '1 are in no later contract, with 5 readings, and are a thief’s, as you said',
  )
  expect(report.rows).toMatchObject({ looked_at: 240, fit: 240 })

  // the batch was reported twice, under one id: the report that counts is the last
  const reported = await city.events(last)
  expect(reported.map(({ id, contract }) => [id, contract])).toEqual([
    [`anchored-${last}`, former!.contract],
    [`anchored-${last}`, renewed!.contract],
  ])
  expect(await city.events(first)).toHaveLength(1)
})

test.concurrent('a process that was frozen over a recovery seals nothing for the contract that was given up', async () => {
  await using city = await instance()
  expect((await city.deploy('stolen')).code).toBe(0)
  const [former] = await city.deployments()
  const frozen = await city.startProcess('stolen')
  const [, good] = await city.batch()
  await city.final(good)
  const [, last] = await city.batch()
  await city.final(last)
  frozen.kill('SIGSTOP')

  // its lease ends, so the command does not see it, and the new contract is at work
  await eventually(
    'the command sees no anchor process',
    async () => (await city.deploy('other', { 'from-batch': String(good) })).code === 0,
    patiently,
  )
  const [, renewed] = await city.deployments()
  city.start('other')
  const [, before] = await city.batch()
  await city.final(before)
  await city.stop()

  // there is something to seal, and no other process that does
  const waiting = await city.commit()
  frozen.kill('SIGCONT')
  expect(await frozen.exited).toEqual({ code: exitCodes.tryAgain, signal: null })

  city.start('other')
  const [, newest] = await city.batch()
  await city.final(newest)
  for (let index = 1; index <= newest; index++) {
    const { contract } = (await city.entryOf<SealedBatch>(headerKey(index)))!
    expect([index, contract]).toEqual([index, (index <= good ? former : renewed)!.contract])
  }
  expect(await city.status(waiting[0]!)).toEqual(['verified', renewed!.contract])
  await city.stop()
  await city.finalize()
  const { code, report } = await city.audit()
  expect([code, report.findings]).toEqual([0, []])
})
