/** An export of a period that has the border of leaf 1 and leaf 2 in it, from a real anchor's two contracts. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type KV, Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditReport } from '../../anchor/audit/audit.ts'
import { contractEnds } from '../../api/proofs/contract-ends.ts'
import { type ContractEnd, networkDocument } from '../../api/proofs/network.ts'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { command as exportCommand } from '../../cli/export/export.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import { deviceText } from '../../core/air/device-text.ts'
import { quantityNames } from '../../core/air/quantities.ts'
import { formatIso } from '../../core/iso-time.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { hourMs } from '../../core/time.ts'
import { needDeployments, readSealed } from '../../operate/exports/sealed-headers.ts'
import { exitCodes } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { readEntry } from '../../runtime/nats/buckets/read-entry.ts'
import { ensureStreams } from '../../runtime/nats/streams/streams.ts'
import { parseChainProof } from '../../schemas/anchoring/chain-proof.ts'
import type { Deployments } from '../../schemas/anchoring/deployments.ts'
import { buckets } from '../../schemas/subjects.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite.ts'
import { anchorInstance } from '../support/chain/anchor-instance.ts'
import { logWriter } from '../support/chain/log-writer.ts'
import { eventually } from '../support/eventually.ts'
import { testNats } from '../support/nats.ts'
import { runCommand } from '../support/run-command.ts'
import { deviceWord, signingDevice } from '../support/signing-device.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const patiently = { everyMs: 50 }
const nowMs = Math.floor(Date.now() / 1_000) * 1_000
const opened = new AsyncDisposableStack()
const folder = opened.use(temporaryFolder())
let env: Record<string, string>
let deployments: Deployments
let ends: ReadonlyMap<number, ContractEnd>
let proofs: KV

const devices = [signingDevice('ed25519'), signingDevice('p256')]

/** Every fifth is signed, and no area is simple. */
function asArrived(reading: ArrivedReading): ArrivedReading {
  const changed = { ...reading, area: 'Ìkẹjà, "GRA"\u2028', flags: 1 << 11 }
  const n = reading.seq % 10
  const device = devices[n / 5]
  if (device === undefined) return changed
  const texts = quantityNames.flatMap((name, id) => {
    const value = reading.values[id] ?? null
    return value === null ? [] : [[name, String(value / 100)] as const]
  })
  const signed = device.sign(deviceText(reading.sensor, reading.timeMs, texts))
  return { ...changed, signed, device: deviceWord(signed) }
}

beforeAll(async () => {
  const nats = opened.use(await testNats())
  const nc = await nats.connect()
  opened.defer(() => nc.close())
  await ensureStreams(nc)
  const instance = await anchorInstance({ nc, natsUrl: nats.url, folder: folder.path, opened })
  const { mine } = instance
  const log = logWriter(nc)
  for (let partition = 0; partition < 4; partition++)
    await log.write({ partition, readings: 30, arrivedMs: nowMs - 2 * hourMs - 10_000 * partition })
  await log.mark()
  const above = { leafVersion: 2, change: asArrived } as const
  for (let partition = 0; partition < 4; partition++)
    await log.write({ partition, readings: 25, arrivedMs: nowMs - 10_000 * partition, ...above })
  const last = await log.write({ partition: 9, readings: 300, arrivedMs: nowMs - hourMs, ...above })
  await eventually(
    'the anchor ends for contract 2',
    async () => {
      await mine()
      return !instance.anchor().isAlive()
    },
    patiently,
  )
  const code = await instance.startAgain()
  if (code !== exitCodes.tryAgain) throw new Error(`the anchor ended with ${code}`)
  await eventually(
    'all is final',
    async () => {
      await mine()
      return await instance.isFinal(last)
    },
    patiently,
  )
  await using store = await openSqliteStore({ file: join(folder.path, 'readings.sqlite') })
  await store.writeBatch(log.written)
  for (let block = 0; block < 4; block++) await mine()
  proofs = await new Kvm(nc).open(buckets.proofs)
  deployments = await needDeployments(nc)
  const { sealed, anchored } = await readSealed(nc)
  ends = await contractEnds({
    index: {
      deployments: () => deployments,
      sealed: (index) => sealed.get(index),
      anchored: (index) => anchored.get(index),
    },
    chainProofOf: async (batch) => parseChainProof(await readEntry(proofs, String(batch))),
  })
  env = { AIRPROOF_DATA: folder.path, NATS_URL: nats.url, CHAIN_RPC_URL: instance.url }
})
afterAll(() => opened.disposeAsync())

const fileOf = (name: string): string => join(folder.path, name)
/** @param hours from and to, as hours before now */
const exported = (name: string, format: string, [from, to]: readonly [number, number] = [3, -1]) =>
  runCommand(exportCommand, {
    env,
    flags: {
      from: formatIso(Math.round(nowMs - from * hourMs)),
      to: formatIso(Math.round(nowMs - to * hourMs)),
      format,
      out: fileOf(name),
    },
  })
/** Nothing of the instance is known to it. */
const verified = (name: string) =>
  runCommand(verifyCommand, { words: [fileOf(`${name}.manifest.json`)] })
const manifestOf = (name: string) =>
  JSON.parse(readFileSync(fileOf(`${name}.manifest.json`), 'utf8')) as Manifest
type Range = { readonly numbers: number[] }
type Manifest = {
  format: string
  rows: { file: string; sha256: string; count: number }
  runs: {
    version?: number
    before?: object
    headers: { index: number }[]
    proofs: { index: number; rows: number; places: number[][] }[]
    anchor: { contract: string }
  }[]
}

const signedRows = 4 * 5 + 60

describe.each(['ndjson', 'csv'])('as %s', (format) => {
  const name = `all.${format}`

  test('rows of both versions are proven in one go, each run in its contract', async () => {
    const { code, err } = await exported(name, format)
    expect([code, err]).toEqual([0, expect.stringContaining(`${name}.manifest.json: what proves`)])
    const printed = await verified(name)
    expect([printed.code, printed.err]).toEqual([0, ''])
    expect(printed.out).toContain(
      `✓ ${signedRows} of the 520 rows are signed by their devices; different keys: 2`,
    )
    expect(printed.out).toContain(
      '400 of them have a leaf of version 2: so did their areas and flags',
    )
    expect(printed.out).toContain(
      `that the sensors sent the ${520 - signedRows} readings that are not signed`,
    )
    expect(printed.out).toContain('that the keys are those of the sensors')
    // which the verifier says of the one row of a run that it is shown
    expect(printed.out).not.toMatch(/that the sensor sent it|key \S+ is that of sensor/)
    const { format: written, runs } = manifestOf(name)
    expect(written).toBe('airproof.export.v2')
    const [first, second] = deployments
    expect(new Set(runs.map(({ version, anchor }) => `${version} ${anchor.contract}`))).toEqual(
      new Set([`1 ${first.contract}`, `2 ${second?.contract}`]),
    )
    expect(readFileSync(fileOf(name), 'utf8').trimEnd().split('\n')).toHaveLength(
      520 + (format === 'csv' ? 1 : 0),
    )
  })

  test('what has nothing of version 2 is an export of version 1', async () => {
    expect((await exported(`old.${format}`, format, [3, 1.5])).code).toBe(0)
    const { format: written, runs, rows } = manifestOf(`old.${format}`)
    expect([written, rows.count]).toEqual(['airproof.export.v1', 120])
    expect(runs.every((run) => !('version' in run))).toBe(true)
    expect(readFileSync(fileOf(`old.${format}`), 'utf8')).not.toMatch(/leaf_version|area/)
    expect((await verified(`old.${format}`)).code).toBe(0)
  })

  test('a part of a batch of version 2 is proven without the rest of it', async () => {
    expect((await exported(`part.${format}`, format, [1.00025, 1.0002])).code).toBe(0)
    const { runs, rows } = manifestOf(`part.${format}`)
    const held = runs.flatMap(({ proofs }) => proofs)
    expect(rows.count).toBeGreaterThan(0)
    expect(held.every(({ places }) => places.length > 0)).toBe(true)
    expect((await verified(`part.${format}`)).code).toBe(0)
  })

  test('the audit of it is green', async () => {
    const { code, out } = await runCommand(auditCommand, {
      flags: { json: true, export: fileOf(`${name}.manifest.json`) },
      env,
    })
    const report: AuditReport = JSON.parse(out)
    expect([code, report.findings]).toEqual([0, []])
    expect(report.rows).toMatchObject({ looked_at: 520, fit: 520, all: false })
  })
})

test('a network file pins both contracts, where --contract refuses the other one', async () => {
  const manifest = fileOf('all.ndjson.manifest.json')
  const settings = {
    name: 'Test',
    chainName: undefined,
    licence: undefined,
    attribution: undefined,
    archiveUrl: undefined,
  }
  const document = networkDocument({
    settings,
    publicUrl: 'http://localhost',
    contracts: deployments,
    ends,
    keccak: await createKeccak(),
    formatLevel: 3,
  })
  writeFileSync(fileOf('network.json'), JSON.stringify(document))
  const verifyWith = (flags: Record<string, string>) =>
    runCommand(verifyCommand, { words: [manifest], flags })
  const pinned = await verifyWith({ network: fileOf('network.json') })
  expect([pinned.code, pinned.out]).toEqual([0, expect.not.stringContaining('pins, not asked')])
  // a file that gives the first number of contract 2 to contract 1
  const other = JSON.parse(JSON.stringify(document)) as {
    contracts: { begins: Range; ends: Range }[]
  }
  const [one, two] = other.contracts
  one!.ends.numbers[9]! += 1
  two!.begins.numbers[9]! += 1
  writeFileSync(fileOf('other.json'), JSON.stringify(other))
  const elsewhere = await verifyWith({ network: fileOf('other.json') })
  expect([elsewhere.code, elsewhere.out]).toEqual([
    1,
    expect.stringMatching(
      /✗ batch \d+: pins: .* of partition 9, and its contract counts those after/,
    ),
  ])
  for (const { contract } of deployments) {
    const { code, out } = await verifyWith({ contract })
    expect([code, out]).toEqual([1, expect.stringMatching(/✗ batch \d+: pins: /)])
  }
})

test('bundles, one a line, are of both versions, and all are proven', async () => {
  expect((await exported('all.bundles', 'bundles')).code).toBe(0)
  const lines = readFileSync(fileOf('all.bundles'), 'utf8').trimEnd().split('\n')
  const formats = Map.groupBy(lines, (line) => /"format":"([^"]*)"/.exec(line)?.[1])
  expect([...formats].map(([format, of]) => [format, of.length])).toEqual([
    ['airproof.proof.v1', 120],
    ['airproof.proof.v2', 400],
  ])
  for (const format of formats.values()) {
    writeFileSync(fileOf('some.bundles'), `${format.slice(0, 5).join('\n')}\n`)
    const printed = await runCommand(verifyCommand, { words: [fileOf('some.bundles')] })
    expect([printed.code, printed.out]).toEqual([0, expect.stringContaining('all 5 readings')])
  }
  // a file that begins with one of version 2, as one alone does
  writeFileSync(fileOf('one.airproof.json'), `${lines.at(-1)}\n`)
  expect((await runCommand(verifyCommand, { words: [fileOf('one.airproof.json')] })).code).toBe(0)
})

/** The export as NDJSON with one thing changed, its checksum made again. */
async function tampered(
  change: (text: string) => string,
  changeManifest: (manifest: Manifest) => void = () => undefined,
) {
  const text = change(readFileSync(fileOf('all.ndjson'), 'utf8'))
  const manifest = manifestOf('all.ndjson')
  writeFileSync(fileOf('tampered.ndjson'), text)
  manifest.rows.file = 'tampered.ndjson'
  manifest.rows.sha256 = createHash('sha256').update(text).digest('hex')
  changeManifest(manifest)
  writeFileSync(fileOf('tampered.ndjson.manifest.json'), JSON.stringify(manifest))
  return await verified('tampered.ndjson')
}
const same = (text: string): string => text
/** The first batch of version 2 that has two rows or more here. */
const proofOf2 = ({ runs }: Manifest) =>
  runs.filter(({ version }) => version === 2).flatMap(({ proofs }) => proofs)[0]!

test.each<[string, string, (text: string) => string, ((manifest: Manifest) => void)?]>([
  [
    'another area',
    'its values, area and flags have another hash',
    (text) => text.replace('GRA', 'GRB'),
  ],
  [
    'other flags',
    'its values, area and flags have another hash',
    (text) => text.replace('"flags":2048', '"flags":0'),
  ],
  [
    'no area',
    'cannot be read: it has no area',
    (text) => text.replace(/"area":"[^,]*, [^,]*",/, ''),
  ],
  [
    'another version of leaf',
    'which does not hold its area',
    (text) => text.replace('"leaf_version":2', '"leaf_version":1'),
  ],
  [
    'another text',
    'its key did not sign the text',
    (text) => text.replace('humidity=50', 'humidity=51'),
  ],
  [
    'rows of which two were exchanged in their numbers',
    'another hash',
    (text) => {
      const seqs = [...text.matchAll(/"seq":(\d+).*"leaf_version":2/g)].map(
        ([, seq]) => `"seq":${seq},`,
      )
      return text
        .replace(seqs[0]!, '"seq":0,')
        .replace(seqs[1]!, seqs[0]!)
        .replace('"seq":0,', seqs[1]!)
    },
  ],
  [
    'places that are not those of the numbers',
    'are not those of their numbers',
    same,
    (manifest) =>
      void (proofOf2(manifest).places = proofOf2(manifest).places.map(([from, to]) => [
        from! + 1,
        to! + 1,
      ])),
  ],
  [
    'a run of the other version',
    'is at fault: ',
    same,
    ({ runs }) => {
      const run = runs.find(({ version }) => version === 2)!
      run.version = 1
      delete run.before
    },
  ],
  ['a version that is not known', 'REFUSED', same, ({ runs }) => void (runs[0]!.version = 3)],
  ['no record before', 'REFUSED', same, ({ runs }) => void delete runs.at(-1)!.before],
  [
    'the record before of another batch',
    'is at fault: index',
    same,
    ({ runs }) => void Object.assign(runs.at(-1)!.before!, { index: 1 }),
  ],
  ['no version', 'REFUSED', same, ({ runs }) => void delete runs[0]!.version],
  [
    'the name of version 1',
    'REFUSED',
    same,
    (manifest) => void (manifest.format = 'airproof.export.v1'),
  ],
  [
    'the anchor of the other contract',
    'REFUSED',
    same,
    ({ runs }) => void Object.assign(runs.at(-1)!, { anchor: runs[0]!.anchor }),
  ],
  [
    'one run over the border',
    'is at fault: ',
    same,
    (manifest) => {
      const [first, second] = [manifest.runs[0]!, manifest.runs.at(-1)!]
      second.headers.unshift(...first.headers)
      second.proofs.unshift(...first.proofs)
      manifest.runs = [second]
    },
  ],
])('an export with %s is refused', async (_, why, change, changeManifest) => {
  expect((await tampered(same)).code).toBe(0)
  const printed = await tampered(change, changeManifest)
  expect(printed.code).toBe(1)
  expect(printed.out).toContain(why)
})

test('a proof that is of another contract than the batch is not exported', async () => {
  const { runs } = manifestOf('all.ndjson')
  const [first, last] = [runs[0], runs.at(-1)].map((run) => String(run!.headers.at(-1)!.index))
  const kept = (await proofs.get(last!))!.string()
  await proofs.put(last!, (await proofs.get(first!))!.string())
  const { code, err } = await exported('former.ndjson', 'ndjson')
  await proofs.put(last!, kept)
  expect([code, err]).toEqual([
    1,
    expect.stringContaining(`there is no proof of batch ${last} on the chain: is it final?`),
  ])
})

test('a row with another area in the store is named when it is exported, and by the audit of the export', async () => {
  using db = new DatabaseSync(join(folder.path, 'readings.sqlite'), { timeout: 5_000 })
  db.exec(`insert into area(n, name) values (76, 'Nowhere')`)
  const set = (area: string): void =>
    db.exec(`update reading set a = ${area} where leaf = 2 and seq % 10 = 1`)
  set('76')
  const { code, err } = await exported('moved.ndjson', 'ndjson')
  expect([code, err]).toEqual([1, expect.stringContaining('is not what was anchored in batch')])
  expect((await verified('moved.ndjson')).code).toBe(1)
  const audited = await runCommand(auditCommand, {
    env,
    flags: { export: fileOf('moved.ndjson.manifest.json') },
  })
  expect([audited.code, audited.out]).toEqual([1, expect.stringContaining('✗ row: ')])
  set(`(select n from area where name like '%GRA%')`)
  expect((await exported('back.ndjson', 'ndjson')).code).toBe(0)
})

test('an export says that the store lost a signature, and is refused for it', async () => {
  using db = new DatabaseSync(join(folder.path, 'readings.sqlite'), { timeout: 5_000 })
  db.exec('delete from signature where (s, t) in (select s, t from signature limit 1)')
  const { code, err } = await exported('lost.ndjson', 'ndjson')
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('1 rows are signed by their devices, and the store does not have'),
  ])
  const printed = await verified('lost.ndjson')
  expect([printed.code, printed.out]).toEqual([
    1,
    expect.stringContaining('is not signed as it says: what its device signed is not there'),
  ])
})
