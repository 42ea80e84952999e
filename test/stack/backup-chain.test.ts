/**
 * Processes and NATS servers of one's own, and a chain that is not ours to copy: the contract holds what
 * was anchored after a backup, and takes nothing back.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { AuditReport } from '../../anchor/audit/audit.ts'
import { command as anchorCommand } from '../../cli/anchor/anchor.ts'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { command as backupCommand } from '../../cli/backup/backup.ts'
import { command as restoreCommand } from '../../cli/backup/restore.ts'
import type { Command } from '../../cli/shell/command.ts'
import { readSealed } from '../../operate/exports/sealed-headers.ts'
import { type Child, startChild } from '../../runtime/machine/child.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { environment } from '../../runtime/process/config.ts'
import { alarmsKey } from '../../schemas/anchoring/batch-record.ts'
import { buckets, spokenSubject } from '../../schemas/subjects.ts'
import { testAnvil } from '../support/anvil.ts'
import { bodyOf, cityOf, registerCity } from '../support/chaos/city.ts'
import { readRows } from '../support/chaos/read-store.ts'
import { checkedSqlite } from '../support/chaos/store-engines.ts'
import { eventually } from '../support/eventually.ts'
import { type TestNats, testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const chainId = 99
const ids = cityOf(20)
const patiently = { everyMs: 50 }

/** A slow machine seals a round in more than one batch, so readings are counted. */
async function readingsIn(nc: NatsConnection) {
  const { sealed, anchored } = await readSealed(nc)
  const counts = [...sealed].map(([index, { header }]) => ({ index, count: header.count }))
  const isFinal = ({ index }: { index: number }) => anchored.get(index)?.status === 'final'
  const sum = (of: typeof counts) => of.reduce((all, { count }) => all + count, 0)
  return { sealed: sum(counts), final: sum(counts.filter(isFinal)) }
}

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
      final: (nc: NatsConnection, readings: number) =>
        eventually(
          `${readings} readings are final`,
          async () => {
            await anvil.rpc('anvil_mine', ['0x2'])
            expect(JSON.stringify(await entry(nc, alarmsKey)) ?? '').not.toContain('DIVERGED')
            return (await readingsIn(nc)).final >= readings
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
  await original.final(nc, 20)

  // sealed in the backup, and anchored after it
  anvil.freeze()
  await original.send(nc, 2)
  const isSealed = async () => (await readingsIn(nc)).sealed === 40
  await eventually('the second round is sealed', isSealed, patiently)
  const backup = join(folder.path, 'backup')
  const made = await original.run(backupCommand, [backup])
  expect(made).toMatchObject({ code: 0 })
  expect(made.out).toContain('(40 readings)')
  anvil.thaw()
  await original.final(nc, 40)
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
  expect(await readingsIn(nc2)).toEqual({ sealed: 40, final: 20 })
  await second.start('pipeline', 'anchor')
  await second.final(nc2, 40)
  await second.send(nc2, 3)
  await second.final(nc2, 60)
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
    'the next readings are final in the new contract',
    async () => {
      await anvil.rpc('anvil_mine', ['0x2'])
      return (await readingsIn(nc3)).final === 60
    },
    patiently,
  )
  await third.stored(60)
  await third.stop()
  const [code, findings] = await third.audit()
  expect([code, findings]).toEqual([1, [expect.stringMatching(/^abandoned: .* holds 20 readings/)]])
  expect(await third.audit({ theft: former?.contract ?? '' })).toEqual([0, []])
})
