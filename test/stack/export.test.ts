import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { checkExport } from '../../cli/export/check-manifest.ts'
import { command as exportCommand } from '../../cli/export/export.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import { toHex } from '../../core/hex.ts'
import { formatIso } from '../../core/iso-time.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import { multiProof } from '../../core/proof/multi-proof.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { nodeHash } from '../../core/proof/tree.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { minuteMs } from '../../core/time.ts'
import { createKeccak } from '../../runtime/keccak.ts'
import { anchoredBatch, someReadings } from '../support/anchored.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import type { Told } from '../support/api.ts'
import { valued } from '../support/readings.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ids = ['NGR-LOS-IKJ-001', 'NGR-LOS-YAB-002', 'NGR-LOS-LEK-003'] as const
const nowMs = Math.floor(Date.now() / 1000) * 1000
const startMs = nowMs - 60 * minuteMs

let api: AnchoredApi
let rows: readonly ArrivedReading[]
const folder = temporaryFolder()

const rounds = (count: number, fromMs: number): Told[] =>
  Array.from({ length: count }, (_, i) =>
    ids.map((sensor, at) => ({
      sensor,
      timeMs: fromMs + i * 1_000 + at * 7,
      pm25: i % 9 === 0 ? null : 1_005 + i,
      co2: null,
      temperature: -150 + i,
    })),
  ).flat()

beforeAll(async () => {
  api = await anchoredApi()
  for (const id of ids) await api.register({ id })
  const committed: ArrivedReading[] = []
  for (let batch = 0; batch < 3; batch++) {
    committed.push(...(await api.commit(rounds(200, startMs + 10 * batch * minuteMs))))
    await api.sealed()
  }
  // a reading of the first minutes that comes late is in a late batch
  committed.push(...(await api.commit([{ sensor: ids[0], timeMs: startMs + 500 }])))
  await api.anchored()
  await api.stopAnchor()
  await api.commit([{ sensor: ids[1], timeMs: nowMs, pm25: 7 }])
  rows = committed
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const env = () => ({ ...api.anchorEnv, AIRPROOF_DATA: dirname(api.storeFile) })
const fileOf = (name: string): string => join(folder.path, name)
const time = (minutes: number): string => formatIso(startMs + minutes * minuteMs)
const exported = (name: string, format: string, [from, to]: readonly [number, number] = [0, 61]) =>
  runCommand(exportCommand, {
    env: env(),
    flags: { from: time(from), to: time(to), format, out: fileOf(name) },
  })
/** Nothing of the instance is known to it. */
const verified = (name: string, flags: Record<string, string> = {}) =>
  runCommand(verifyCommand, { words: [fileOf(name)], flags })

test.for(['ndjson', 'csv'])('an export as %s is proven in one go, offline', async (format) => {
  const { code, err } = await exported(`all.${format}`, format)
  expect([code, err]).toEqual([0, expect.stringContaining('; not anchored for good yet: 1 rows')])
  expect(err).toContain('anchored on chain 31337, a demonstration chain')
  const lines = readFileSync(fileOf(`all.${format}`), 'utf8')
    .trimEnd()
    .split('\n')
  expect(lines).toHaveLength(rows.length + 1 + (format === 'csv' ? 1 : 0))
  const printed = await verified(`all.${format}.manifest.json`, {
    'chain-id': String(api.deployment.chainId),
    contract: api.deployment.contract,
    rpc: api.anvil.url,
  })
  expect([printed.code, printed.err]).toEqual([0, ''])
  expect(printed.out).toMatch(
    /^✓ (all \d+ readings of batch 1, |(\d+) of the \2 readings of (\d+) batches, \3 of which are here whole)/,
  )
  expect(printed.out).toContain('not anchored for good yet, so nothing is proven of them: 1 rows')
  expect(printed.out).toContain('PROVEN')
})

test('a part of a batch is proven without the rest of it', async () => {
  const { code } = await exported('part.ndjson', 'ndjson', [1, 11])
  expect(code).toBe(0)
  const printed = await verified('part.ndjson.manifest.json')
  expect([printed.code, printed.out]).toEqual([
    0,
    expect.stringMatching(/^✓ .*\b\d+ of the \d+ readings of /),
  ])
  expect(printed.out).toContain('PROVEN, ON A DEMONSTRATION CHAIN.')
  expect(printed.out).not.toContain('bundle')
  const { runs } = JSON.parse(readFileSync(fileOf('part.ndjson.manifest.json'), 'utf8'))
  expect(runs[0].proofs[0].siblings.length).toBeGreaterThan(0)
})

test('bundles, one a line, are each proven by the standalone verifier', async () => {
  const { code } = await exported('some.bundles', 'bundles', [0, 0.2])
  expect(code).toBe(0)
  const printed = await verified('some.bundles')
  expect([printed.code, printed.out]).toEqual([
    0,
    expect.stringContaining('PROVEN, ON A DEMONSTRATION CHAIN: all'),
  ])
  const text = readFileSync(fileOf('some.bundles'), 'utf8')
  const lines = text.split('\n')
  writeFileSync(
    fileOf('altered.bundles'),
    lines.with(3, lines[3]!.replace('"pm10":', '"pm10":1')).join('\n'),
  )
  const refused = await verified('altered.bundles')
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('line 4: leaf:')])
  writeFileSync(fileOf('one.airproof.json'), `${lines[0]}\n`)
  expect((await verified('one.airproof.json')).out).toContain('PROVEN,')
  expect((await verified('one.airproof.json', { contract: `0x${'12'.repeat(20)}` })).code).toBe(1)
})

/** The export with one thing changed, its checksum mended. */
async function tampered(
  change: (text: string) => string,
  changeManifest: (manifest: Manifest) => void = () => undefined,
) {
  const { createHash } = await import('node:crypto')
  const text = change(readFileSync(fileOf('all.ndjson'), 'utf8'))
  const manifest = JSON.parse(readFileSync(fileOf('all.ndjson.manifest.json'), 'utf8')) as Manifest
  writeFileSync(fileOf('tampered.ndjson'), text)
  manifest.rows.file = 'tampered.ndjson'
  manifest.rows.sha256 = createHash('sha256').update(text).digest('hex')
  changeManifest(manifest)
  writeFileSync(fileOf('tampered.manifest.json'), JSON.stringify(manifest))
  return verified('tampered.manifest.json')
}
type Manifest = {
  rows: { file: string; sha256: string; count: number; not_anchored: number }
  runs: {
    headers: { root: string; n_last: number[]; time_max_ms: number }[]
    proofs: { places: number[][]; siblings: string[]; rows: number }[]
    anchor: { chain_id: number; block_hash: string }
    block_header: string
  }[]
}

test('the export as it is passes for the tampered ones, so that they can fail', async () => {
  expect((await tampered((text) => text)).code).toBe(0)
})

test('an export with anything changed is refused, and says why', async () => {
  const cut = (text: string): string => text.slice(text.indexOf('\n') + 1)
  const hashes = async (line: string, values: object): Promise<string> => {
    const { leafOf } = await import('../../anchor/verifier/airproof-verify.js')
    const row = { ...JSON.parse(line), ...values }
    const whole = (value: number | null) => (value === null ? null : Math.round(value * 100))
    const hash = leafOf({
      sensor_id: row.sensor_id,
      time_ms: Date.parse(row.timestamp),
      seq: row.seq,
      pm25: whole(row.pm25),
      pm10: whole(row.pm10),
      co2: whole(row.co2),
      temperature: whole(row.temperature),
      humidity: whole(row.humidity),
      aqi: row.aqi,
    })
    return `${JSON.stringify({ ...row, hash })}\n`
  }
  const [line = ''] = readFileSync(fileOf('all.ndjson'), 'utf8').split('\n')
  const forged = await hashes(line, { pm10: 1.5 })
  const cases: readonly (readonly [RegExp, (text: string) => string, ((m: Manifest) => void)?])[] =
    [
      [/was changed/, (text) => text.replace('"pm10":20', '"pm10":21')],
      // with a hash that fits
      [/do not lead to its root/, (text) => forged + cut(text)],
      [/rows, and the manifest counts/, cut],
      [/rows of batch|leaves/, cut, ({ rows: reported }) => void reported.count--],
      [/has the number \d+, as another row has/, (text) => text + line],
      [
        /has the number \d+, as another row has/,
        (text) => `${text}${line}\n`,
        ({ rows: reported }) => void reported.count++,
      ],
      [/cannot be read/, (text) => text.replace('{', '[')],
      [
        /at fault|root|head/,
        (text) => text,
        ({ runs }) => void (runs[0]!.headers[0]!.root = `0x${'11'.repeat(32)}`),
      ],
      [/at fault/, (text) => text, ({ runs }) => void runs[0]!.headers.reverse()],
      [/at fault/, (text) => text, ({ runs }) => void runs[0]!.headers[0]!.n_last[3]!++],
      [
        /leaves|places|needs|early/,
        (text) => text,
        ({ runs }) => void runs[0]!.proofs[0]!.places.pop(),
      ],
      [
        /more than it needs/,
        (text) => text,
        ({ runs }) => void runs[0]!.proofs[0]!.siblings.push(`0x${'11'.repeat(32)}`),
      ],
      [/no proof of the rows/, (text) => text, ({ runs }) => void runs.pop()],
      [
        /block/,
        (text) => text,
        ({ runs }) => void (runs[0]!.anchor.block_hash = `0x${'11'.repeat(32)}`),
      ],
      [/transaction/, (text) => text, ({ runs }) => void runs[0]!.anchor.chain_id++],
    ]
  for (const [at, [why, change, changeManifest]] of cases.entries()) {
    const printed = await tampered(change, changeManifest)
    expect([at, printed.code]).toEqual([at, 1])
    expect([at, printed.out]).toEqual([at, expect.stringMatching(why)])
  }
  const untold = await tampered(
    (text) => text,
    ({ rows: reported }) => void (reported.sha256 = '0'.repeat(64)),
  )
  expect(untold.out).toMatch(/another file/)
})

test('nothing is overwritten, and a wrong request is answered with the reason', async () => {
  expect((await exported('all.ndjson', 'ndjson')).code).toBe(1)
  expect((await exported('x.txt', 'xml')).code).toBe(2)
  expect((await exported('x.txt', 'csv', [5, 5])).code).toBe(2)
  expect((await verified('nothing.json')).code).toBe(2)
  writeFileSync(fileOf('no.json'), '{}')
  expect((await verified('no.json')).code).toBe(1)
})

test('a row that was altered in the database is named when it is exported and when it is audited', async () => {
  const { sensor, timeMs } = rows[5]!
  const db = new DatabaseSync(api.storeFile, { timeout: 5_000 })
  const where = 'where s = (select n from sensor where id = ?) and t = ?'
  db.prepare(`update reading set humidity = humidity + 1 ${where}`).run(sensor, timeMs)
  const { code, err } = await exported('wrong.ndjson', 'ndjson')
  expect([code, err]).toEqual([1, expect.stringContaining('is not what was anchored in batch')])
  const refused = await verified('wrong.ndjson.manifest.json')
  expect(refused.code).toBe(1)
  const audited = await runCommand(auditCommand, {
    env: env(),
    flags: { export: fileOf('wrong.ndjson.manifest.json') },
  })
  expect([audited.code, audited.out]).toEqual([1, expect.stringContaining(sensor)])
  db.prepare(`update reading set humidity = humidity - 1 ${where}`).run(sensor, timeMs)
  db.close()
  const green = await runCommand(auditCommand, {
    env: env(),
    flags: { export: fileOf('all.ndjson.manifest.json') },
  })
  expect([green.code, green.out]).toEqual([0, expect.stringContaining('GREEN')])
})

test('a whole batch in which two readings have one number is refused', async () => {
  const [reading] = someReadings(1)
  const readings = [500, 30_000].map((pm25) => valued({ ...reading!, pm25 }))
  const { header, chain } = await anchoredBatch(api.anvil, { readings, counts: [2] })
  const keccak = await createKeccak()
  const leaves = readings.map((one) => leafOf(one, keccak))
  const proof = {
    index: 1,
    rows: 2,
    ...multiProof(sortLeaves(leaves), [0, 1], nodeHash(keccak, 1)),
  }
  const manifest = {
    rows: {
      file: 'twice.ndjson',
      format: 'ndjson',
      sha256: '',
      count: 2,
      notAnchored: 0,
      from: formatIso(reading!.timeMs),
      to: formatIso(reading!.timeMs + 1),
    },
    runs: [{ headers: [header], proofs: [proof], chain }],
  } as const
  const linesOf = async function* (of: typeof readings) {
    for (const one of of) yield { reading: one, hash: toHex(leafOf(one, keccak)), batch: 1 }
  }
  expect(await checkExport(manifest, linesOf(readings), { keccak })).toEqual({
    ok: false,
    why: `row 2 (${reading!.sensor}) has the number ${reading!.seq}, as another row has`,
  })
})
