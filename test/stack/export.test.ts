import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command as auditCommand } from '../../cli/audit/audit.ts'
import { checkExport } from '../../cli/export/check-manifest.ts'
import { command as exportCommand } from '../../cli/export/export.ts'
import { command as verifyCommand } from '../../cli/verify.ts'
import { maskOf } from '../../core/air/quality.ts'
import { qualityOf } from '../../core/air/quality-level.ts'
import { toHex } from '../../core/hex.ts'
import { formatIso } from '../../core/iso-time.ts'
import { leafOf } from '../../core/proof/leaf.ts'
import { multiProof } from '../../core/proof/multi-proof.ts'
import { sortLeaves } from '../../core/proof/sort-leaves.ts'
import { nodeHash } from '../../core/proof/tree.ts'
import type { ArrivedReading } from '../../core/state/log-message.ts'
import { minuteMs } from '../../core/time.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import type { Flags } from '../../runtime/settings.ts'
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

const areas = ['Ikeja', 'Yaba', 'Lekki']
/** Some are saturated, and fail; some are high, and suspect. */
const flagsOf = (i: number): number =>
  i % 10 === 0 ? maskOf('pm_saturated') : i % 10 === 1 ? maskOf('pm_high') : 0

const rounds = (count: number, fromMs: number): Told[] =>
  Array.from({ length: count }, (_, i) =>
    ids.map((sensor, at) => ({
      sensor,
      timeMs: fromMs + i * 1_000 + at * 7,
      pm25: i % 9 === 0 ? null : 1_005 + i,
      co2: null,
      temperature: -150 + i,
      area: areas[at]!,
      flags: flagsOf(i),
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
const exported = (
  name: string,
  format: string,
  [from, to]: readonly [number, number] = [0, 61],
  flags: Flags = {},
) =>
  runCommand(exportCommand, {
    env: env(),
    flags: { from: time(from), to: time(to), format, out: fileOf(name), ...flags },
  })
/** Nothing of the instance is known to it. */
const verified = (name: string, flags: Record<string, string> = {}) =>
  runCommand(verifyCommand, { words: [fileOf(name)], flags })

test.for(['ndjson', 'csv'])('an export as %s is proven in one go, offline', async (format) => {
  const { code, err } = await exported(`all.${format}`, format)
  expect([code, err]).toEqual([0, expect.stringContaining('; not anchored for good yet: 1 rows')])
  expect(err).toContain('anchored on chain 31337, a local test chain, for demonstration only')
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

type Part = { readonly name: string; readonly flags: Flags; readonly words: string }
const parts: readonly (Part & { readonly has: (row: ArrivedReading) => boolean })[] = [
  {
    name: 'two-areas',
    flags: { area: ['ikeja', 'Lekki'] },
    words: 'areas: Ikeja, Lekki',
    has: ({ area }) => area !== 'Yaba',
  },
  {
    name: 'a-sensor',
    flags: { sensor: [ids[1]] },
    words: `sensors: ${ids[1]}`,
    has: ({ sensor }) => sensor === ids[1],
  },
  {
    name: 'good',
    flags: { sensor: [ids[0], ids[2]], area: ['Lekki'], quality: 'good' },
    words: `sensors: ${ids[0]}, ${ids[2]}; areas: Lekki; only good readings`,
    has: ({ area, flags }) => area === 'Lekki' && qualityOf(flags) === 'good',
  },
  {
    name: 'not-failed',
    flags: { quality: 'suspect' },
    words: 'without failed readings',
    has: ({ flags }) => qualityOf(flags) !== 'fail',
  },
]

test.for(parts)('a part by $flags is proven, and says that it is one', async (part) => {
  const { code, err } = await exported(`${part.name}.ndjson`, 'ndjson', [0, 59], part.flags)
  expect([code, err]).toEqual([0, expect.stringContaining(`a part of the period: ${part.words}`)])
  const lines = readFileSync(fileOf(`${part.name}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
  const numbers = lines.map((line): number => JSON.parse(line).seq).toSorted((a, b) => a - b)
  const wanted = rows.filter(part.has).map(({ seq }) => seq)
  expect(wanted.length).toBeGreaterThan(100)
  expect(wanted.length).toBeLessThan(rows.length)
  expect(numbers).toEqual(wanted.toSorted((a, b) => a - b))
  const printed = await verified(`${part.name}.ndjson.manifest.json`, {
    contract: api.deployment.contract,
    rpc: api.anvil.url,
  })
  expect([printed.code, printed.err]).toEqual([0, ''])
  expect(printed.out).toContain(`a part of the period: ${part.words}`)
  expect(printed.out).toContain('that no other reading of the period goes with the filter')
})

test.for(['ndjson', 'csv'])('corrected values as %s are beside the raw ones', async (format) => {
  const flags = { corrections: ['epa_2021_ext', 'barkjohn_2021'], sensor: [ids[0]] }
  const { code, err } = await exported(`better.${format}`, format, [0, 59], flags)
  expect([code, err]).toEqual([
    0,
    expect.stringContaining('pm25_epa_2021_ext: corrected by version 1 of epa_2021_ext, 0x'),
  ])
  const printed = await verified(`better.${format}.manifest.json`)
  expect([printed.code, printed.out]).toEqual([
    0,
    expect.stringContaining('✓ the values of epa_2021_ext, version 1, follow from the raw ones'),
  ])
  const text = readFileSync(fileOf(`better.${format}`), 'utf8')
  const shown = format === 'csv' ? /,(\d+\.\d),(\d+\.\d)\r\n/ : /"pm25_epa_2021_ext":(\d+\.\d)/
  const [cell = '', value = ''] = shown.exec(text) ?? []
  expect(value).not.toBe('')
  const other = text.replace(cell, cell.replace(value, String(Number(value) + 1)))
  const manifest = JSON.parse(readFileSync(fileOf(`better.${format}.manifest.json`), 'utf8'))
  writeFileSync(fileOf(`better2.${format}`), other)
  manifest.rows.file = `better2.${format}`
  writeFileSync(fileOf(`better2.${format}.manifest.json`), JSON.stringify(manifest))
  const refused = await verified(`better2.${format}.manifest.json`)
  expect([refused.code, refused.out]).toEqual([
    1,
    expect.stringMatching(/has [\d.]+ as pm25_epa_2021_ext, and the model gives [\d.]+/),
  ])
})

test.for<[Flags, RegExp]>([
  [{ area: ['Ikeya'] }, /--area: there is no area "Ikeya": did you mean "Ikeja"\?/],
  [{ sensor: ['NGR-LOS-IKJ-009'] }, /no sensor "NGR-LOS-IKJ-009": did you mean "NGR-LOS-IKJ-001"/],
  [{ sensor: ['x'] }, /--sensor: there is no sensor "x": there is NGR-LOS-IKJ-001, /],
  [{ quality: 'best' }, /--quality must be good, suspect, all, and is "best"/],
  [{ corrections: ['epa'] }, /there is no model "epa": there is epa_2021_ext, /],
  [{ corrections: ['epa_2021_ext'], format: 'bundles' }, /a bundle has only what is proven/],
])('an export by %j is refused in words, and no file is made', async ([flags, why]) => {
  const { code, err } = await exported('unknown.ndjson', 'ndjson', [0, 59], flags)
  expect([code, err]).toEqual([2, expect.stringMatching(why)])
  expect(existsSync(fileOf('unknown.ndjson.manifest.json'))).toBe(false)
})

test.each(['ndjson', 'bundles'])(
  'nothing is written as %s if there is no reading',
  async (format) => {
    const { code, err } = await exported(`none.${format}`, format, [-600, -540])
    expect([code, err]).toEqual([1, expect.stringMatching(/no reading from .* nothing is written/)])
    expect(
      [`none.${format}`, `none.${format}.manifest.json`].some((name) => existsSync(fileOf(name))),
    ).toBe(false)
  },
)

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
