/**
 * Processes and NATS servers of one's own, and a chain that is not ours to copy: the contract holds what
 * was anchored after a backup, and takes nothing back.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test, vi } from 'vitest'
import type { AuditReport } from '../../anchor/audit/audit.ts'
import { command as anchorCommand } from '../../cli/anchor/anchor.ts'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { command as backupCommand } from '../../cli/backup/backup.ts'
import { command as restoreCommand } from '../../cli/backup/restore.ts'
import type { Command } from '../../cli/shell/command.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { environment } from '../../runtime/process/config.ts'
import { alarmsKey, anchoredKey, headerKey } from '../../schemas/anchoring/batch-record.ts'
import { buckets, spokenSubject } from '../../schemas/subjects.ts'
import { testAnvil } from '../support/anvil.ts'
import { bodyOf, cityOf, registerCity } from '../support/chaos/city.ts'
import { readRows } from '../support/chaos/read-store.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

vi.setConfig({ testTimeout: 300_000 })

const chainId = 99
const ids = cityOf(20)
const patiently = { withinMs: 60_000, everyMs: 50 }
type Flags = Readonly<Record<string, string | boolean>>

test('anchors after the backup are found, those that it lacks need a person, and the original is not joined by a copy', async () => {
  await using opened = new AsyncDisposableStack()
  const anvil = opened.use(await testAnvil({ chainId }))
  const folder = opened.use(temporaryFolder())
  const newKey = async (name: string) => {
    const key = generatePrivateKey()
    const file = join(folder.path, name)
    writeFileSync(file, key, { mode: 0o600 })
    const { address } = privateKeyToAccount(key)
    await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 19n).toString(16)}`])
    return { file, address }
  }
  const [writer, owner] = [await newKey('writer.key'), await newKey('owner.key')]

  /** An instance on a NATS of its own, or what becomes of it after a restore. */
  const place = async (name: string) => {
    const nats: TestNats = opened.use(await testNats())
    const data = join(folder.path, name)
    const env = {
      AIRPROOF_DATA: data,
      AIRPROOF_LOG: 'warn',
      AIRPROOF_BACKUP_PASSPHRASE: 'as long as it has to be',
      NATS_URL: nats.url,
      CHAIN_RPC_URL: anvil.url,
      ANCHOR_KEY_FILE: writer.file,
      ANCHOR_INTERVAL: '4s',
      ANCHOR_POLL: '50ms',
    }
    const running: Child[] = []
    const run = async (command: Command, words: readonly string[], flags: Flags = {}) =>
      await runCommand(command, { words, flags, env })
    const entry = async <T>(nc: NatsConnection, key: string): Promise<T | undefined> => {
      const found = await (await new Kvm(nc).open(buckets.batches)).get(key)
      return found?.operation === 'PUT' ? found.json<T>() : undefined
    }
    const stop = async (): Promise<void> => {
      await Promise.all(running.splice(0).map((child) => child.stop()))
    }
    opened.defer(stop)
    return {
      nats,
      data,
      run,
      stop,
      entry,
      start: async (...processes: readonly string[]): Promise<void> => {
        for (const process_ of processes)
          running.push(
            await startChild({
              command: process.execPath,
              args: ['bin/airproof.mjs', process_],
              env: { ...environment(), ...env },
              onLine: () => undefined,
            }),
          )
      },
      /** A reading of each sensor. */
      send: async (nc: NatsConnection, round: number): Promise<void> => {
        const timeMs = Date.now() - 600_000 + round * 1_000
        // at once, so that they are in one batch
        await Promise.all(
          ids.map((sensor) =>
            nc.request(
              spokenSubject(sensor),
              bodyOf(sensor, timeMs, { pm25: 1_000 + round, pm10: 2_000 }),
              { timeout: 10_000 },
            ),
          ),
        )
      },
      stored: (count: number) =>
        eventually(
          `${count} rows are stored`,
          async () => {
            await using store = await checkedSqlite(data).open()
            return (await readRows(store).catch(() => [])).length === count
          },
          patiently,
        ),
      final: (nc: NatsConnection, index: number) =>
        eventually(
          `batch ${index} is final`,
          async () => {
            await anvil.rpc('anvil_mine', ['0x2'])
            const record = await entry<{ status: string }>(nc, anchoredKey(index))
            const alarms = JSON.stringify(await entry(nc, alarmsKey))
            expect(alarms ?? '').not.toContain('DIVERGED')
            return record?.status === 'final'
          },
          patiently,
        ),
      audit: async (more: Flags = {}) => {
        await anvil.rpc('anvil_mine', ['0x4'])
        const { code, out, err } = await run(auditCommand, [], { ...more, json: true })
        if (out === '') throw new Error(err)
        const { findings } = JSON.parse(out) as AuditReport
        return [code, findings.map(({ kind, words }) => `${kind}: ${words}`)]
      },
    }
  }

  const original = await place('original')
  const nc = await original.nats.connect()
  await registerCity(nc, ids)
  const deployed = await original.run(anchorCommand, ['deploy'], { owner: owner.address })
  expect(deployed).toMatchObject({ code: 0 })
  await original.start('pipeline', 'anchor')
  await original.send(nc, 1)
  await original.final(nc, 1)

  // sealed in the backup, and anchored after it
  anvil.freeze()
  await original.send(nc, 2)
  await eventually('batch 2 is sealed', () => original.entry(nc, headerKey(2)), patiently)
  const backup = join(folder.path, 'backup')
  const made = await original.run(backupCommand, [backup])
  expect(made).toMatchObject({ code: 0 })
  expect(made.out).toContain('(40 readings)')
  anvil.thaw()
  await original.final(nc, 2)
  await original.stop()

  // the same passphrase and an empty NATS, while the original answers
  const second = await place('second')
  const beside = await second.run(restoreCommand, [backup])
  expect(beside.err).toContain(`still runs with its NATS at ${original.nats.url}`)
  const onto = await original.run(restoreCommand, [backup], { data: join(folder.path, 'else') })
  expect(onto.code).toBe(1)
  await nc.close()
  await original.nats.kill()

  expect(await second.run(restoreCommand, [backup])).toMatchObject({ code: 0 })
  const nc2 = await second.nats.connect()
  opened.defer(() => nc2.close())
  expect(await second.entry(nc2, anchoredKey(2))).toSatisfy(
    (record: { status?: string } | undefined) => record?.status !== 'final',
  )
  await second.start('pipeline', 'anchor')
  await second.final(nc2, 2)
  await second.send(nc2, 3)
  await second.final(nc2, 3)
  await second.stored(60)
  expect(await second.audit()).toEqual([0, []])
  await second.stop()

  // the same backup once more: the chain alone shows that there is another
  const third = await place('third')
  const twice = await third.run(restoreCommand, [backup])
  expect(twice.err).toMatch(
    /holds (?:batch \d+|batches \d+ to \d+) \(20 readings\), anchored after this backup was made/,
  )
  expect(twice.code).toBe(1)
  const accepted = await third.run(restoreCommand, [backup], { 'behind-the-chain': true })
  // a slow machine seals a round in more than one batch
  const [, sealed = ''] =
    /`airproof anchor deploy --owner ADDRESS --from-batch (\d+)`/.exec(accepted.err) ?? []
  expect(Number(sealed)).toBeGreaterThanOrEqual(2)
  expect(accepted.code).toBe(0)
  const full = await third.run(restoreCommand, [backup], {
    'behind-the-chain': true,
    data: join(folder.path, 'fourth'),
  })
  expect(full.err).toContain('holds streams of airproof already')

  const nc3 = await third.nats.connect()
  opened.defer(() => nc3.close())
  await third.start('pipeline', 'anchor')
  await third.send(nc3, 4)
  await eventually(
    'the alarm is DIVERGED',
    async () => {
      await anvil.rpc('anvil_mine', ['0x2'])
      return JSON.stringify(await third.entry(nc3, alarmsKey))?.includes('DIVERGED')
    },
    patiently,
  )
  await third.stop()
  const [former] = await readDeployments(await new Kvm(nc3).open(buckets.anchoring))
  const renewed = await third.run(anchorCommand, ['deploy'], {
    owner: owner.address,
    'from-batch': sealed,
  })
  expect(renewed).toMatchObject({ code: 0 })
  await third.start('pipeline', 'anchor')
  await eventually(
    'the next batch is final in the new contract',
    async () => {
      await anvil.rpc('anvil_mine', ['0x2'])
      const record = await third.entry<{ status: string }>(nc3, anchoredKey(Number(sealed) + 1))
      return record?.status === 'final'
    },
    patiently,
  )
  await third.stored(60)
  await third.stop()
  const [code, findings] = await third.audit()
  expect([code, findings]).toEqual([1, [expect.stringMatching(/^abandoned: .* holds 20 readings/)]])
  expect(await third.audit({ theft: former?.contract ?? '' })).toEqual([0, []])
})
