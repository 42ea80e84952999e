/** Format level 3 is reached while the anchor runs: its next batch goes to contract 2, and nothing is left out. */
import { join } from 'node:path'
import { Kvm } from '@nats-io/kv'
import { expect, test } from 'vitest'
import type { AuditReport } from '../../anchor/audit/audit.ts'
import { command } from '../../cli/audit/audit.ts'
import { exitCodes } from '../../runtime/exit.ts'
import { readDeployments } from '../../runtime/nats/read-deployments.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { buckets } from '../../schemas/subjects.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { anchorInstance } from '../support/chain/anchor-instance.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const patiently = { everyMs: 50 }

test('the last batch of contract 1 ends at the border, and the next one is in contract 2', async () => {
  using folder = temporaryFolder()
  await using opened = new AsyncDisposableStack()
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const instance = await anchorInstance({ nc, natsUrl: nats.url, folder: folder.path, opened })
  const { batches, mine } = instance
  const isFinal = (last: number) => async (): Promise<boolean> => {
    await mine()
    return await instance.isFinal(last)
  }
  const log = logWriter(nc)
  const nowMs = Date.now()
  // the same sensors are in every partition, and at other times
  const arrivedMs = (partition: number): number => nowMs - 10_000 * partition
  for (let partition = 0; partition < 4; partition++)
    await log.write({ partition, readings: 30, arrivedMs: arrivedMs(partition) })
  const border = await log.mark()
  const above = { leafVersion: 2 } as const
  for (let partition = 0; partition < 4; partition++)
    await log.write({ partition, readings: 25, arrivedMs: arrivedMs(partition), ...above })
  const last = await log.write({ partition: 9, readings: 300, arrivedMs: arrivedMs(9), ...above })

  await eventually(
    'the anchor ends for contract 2',
    async () => {
      await mine()
      return !instance.anchor().isAlive()
    },
    patiently,
  )
  expect(await instance.startAgain()).toBe(exitCodes.tryAgain)
  // that was planned, and no fault
  expect(instance.printed.filter((line) => line.includes('"level":"fatal"'))).toEqual([])
  expect(instance.printed).toContainEqual(
    expect.stringMatching(/"level":"info".*contract 2 is at 0x.*; it starts again with that/),
  )
  await eventually('all is final', isFinal(last), patiently)

  const all = Array.from({ length: batches.last() }, (_, i) => batches.get(i + 1)?.header)
  const atBorder = all.findIndex((header) => header?.last === border)
  expect(atBorder).toBeGreaterThanOrEqual(0)
  expect(all.map((header) => header?.version)).toEqual(
    all.map((_, at) => (at <= atBorder ? undefined : 2)),
  )
  const sum = (headers: typeof all): number =>
    headers.reduce((readings, header) => readings + (header?.count ?? 0), 0)
  expect([sum(all.slice(0, atBorder + 1)), sum(all.slice(atBorder + 1))]).toEqual([120, 400])
  const deployments = await readDeployments(await new Kvm(nc).open(buckets.anchoring))
  expect(deployments).toMatchObject([
    { contract: instance.address },
    { version: 2, former: instance.address, from: { index: atBorder + 1, last: border } },
  ])

  // and the audit of the folder is green across it
  await using store = await openSqliteStore({ file: join(folder.path, 'readings.sqlite') })
  await store.writeBatch(log.written)
  for (let block = 0; block < 4; block++) await mine()
  const env = { AIRPROOF_DATA: folder.path, NATS_URL: nats.url, CHAIN_RPC_URL: instance.url }
  const { code, out } = await runCommand(command, { flags: { json: true }, env })
  const report: AuditReport = JSON.parse(out)
  expect([code, report.findings]).toEqual([0, []])
  expect(report).toMatchObject({
    anchors: all.length,
    // nothing more can be anchored in contract 1
    contracts: [
      { version: 1, abandoned: 0, still_open_to: null },
      { version: 2, first_batch: atBorder + 2 },
    ],
    rows: { looked_at: 520, fit: 520 },
    covers: {
      by_version: [
        { version: 1, readings: 120 },
        { version: 2, readings: 400 },
      ],
    },
  })
})
