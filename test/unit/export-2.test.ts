/** Exports of version 2: what a checker demands of rows, places and runs, by samples that were anchored. */
import { expect, test } from 'vitest'
import { checkExport } from '../../cli/export/check-manifest.ts'
import type { ExportedRow } from '../../cli/export/row-line.ts'
import { corrected } from '../../core/air/correction-model.ts'
import type { DeviceSignature } from '../../core/air/device-signature.ts'
import { type Hex, toHex } from '../../core/hex.ts'
import { type LeafFields, type LeafFields2, leafOf } from '../../core/proof/leaf.ts'
import {
  type ExportManifest,
  type ExportRun,
  manifestText,
  parseManifest,
} from '../../operate/exports/export-manifest.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { shippedCorrections } from '../../schemas/corrections.ts'
import { exportOfBundles, sampleParts } from '../support/export-of-bundles.ts'
import { deviceWord, signingDevice } from '../support/signing-device.ts'

const keccak = await createKeccak()

type Made = { readonly rows: readonly ExportedRow[]; readonly manifest: ExportManifest }

/** Through the text of its manifest, as a reader gets it. */
const checked = async ({ rows, manifest }: Made) => {
  const read = parseManifest(manifestText(manifest))
  if (read === undefined) return { ok: false, why: 'it is not a manifest' } as const
  return checkExport(
    read,
    (async function* () {
      yield* rows
    })(),
    { keccak },
  )
}
const whyNot = async (made: Made): Promise<string> => {
  const result = await checked(made)
  return result.ok ? 'proven' : result.why
}

test.each([
  [['v2-alone'], { ofLeaf2: 1, signed: 0, keys: 0 }],
  [['v2-in-a-city'], { ofLeaf2: 1, signed: 0, keys: 0 }],
  [['v2-promoted'], { ofLeaf2: 1, signed: 0, keys: 0 }],
  [['v2-ed25519'], { ofLeaf2: 1, signed: 1, keys: 1 }],
  [['v2-p256'], { ofLeaf2: 1, signed: 1, keys: 1 }],
  // over the border
  [['alone', 'v2-after-the-border'], { ofLeaf2: 1, signed: 0, keys: 0 }],
] as const)('an export of %j is proven', async (names, printed) => {
  const made = exportOfBundles(...names)
  const { manifest } = made
  expect(JSON.parse(manifestText(manifest))).toMatchObject({
    format: 'airproof.export.v2',
    runs: names.map((name) => ({ version: name.startsWith('v2') ? 2 : 1 })),
  })
  expect(parseManifest(manifestText(manifest))).toEqual(manifest)
  expect(await checked(made)).toMatchObject({ ok: true, rows: names.length, ...printed })
})

test('without anything of version 2 it is an export of version 1, which names no version', async () => {
  const made = exportOfBundles('alone')
  const text = manifestText(made.manifest)
  expect(text).toMatch(/^\{"format":"airproof\.export\.v1",/)
  expect(text).not.toContain('"version"')
  expect(await whyNot(made)).toBe('proven')
})

const seal = (row: ExportedRow, reading: Partial<LeafFields2>): ExportedRow => {
  const changed = { ...row.reading, ...reading } as LeafFields
  return { ...row, reading: changed, hash: toHex(leafOf(changed, keccak)) }
}
const reading2 = (row: ExportedRow) => row.reading as LeafFields2

type Change = {
  /** The row as it is written; with `seal` its hash fits again. */
  readonly row?: (row: ExportedRow) => ExportedRow
  readonly run?: (run: ExportRun) => ExportRun
  readonly manifest?: (manifest: ExportManifest) => ExportManifest
}
const inReading =
  (reading: Partial<LeafFields2>) =>
  (row: ExportedRow): ExportedRow => ({
    ...row,
    reading: { ...row.reading, ...reading } as LeafFields,
  })

async function tampered(name: string, { row = same, run = same, manifest = same }: Change) {
  const made = exportOfBundles(name)
  const { runs, ...rest } = made.manifest
  return await whyNot({
    rows: made.rows.map(row),
    manifest: manifest({ ...rest, runs: runs.map(run) }),
  })
}
const same = <T>(value: T): T => value

const otherHash =
  /^row 1 \(NGR-LOS-IKJ-021\) was changed: its values, area and flags have another hash$/
const otherRoot = /^the rows of batch 3 do not lead to its root: one was changed$/

test.each<[string, RegExp, Change]>([
  ['another area', otherHash, { row: inReading({ area: 'Lekki' }) }],
  ['other flags', otherHash, { row: inReading({ flags: 0 }) }],
  [
    'another value',
    otherHash,
    { row: (row) => inReading({ values: reading2(row).values.with(0, 1) })(row) },
  ],
  ['another index', otherHash, { row: inReading({ aqi: null }) }],
  [
    'a device that signed nothing',
    otherHash,
    { row: inReading({ device: `0x${'ab'.repeat(32)}` }) },
  ],
  ['another area, its hash made again', otherRoot, { row: (row) => seal(row, { area: 'Lekki' }) }],
  ['other flags, their hash made again', otherRoot, { row: (row) => seal(row, { flags: 0 }) }],
  [
    'another value, its hash made again',
    otherRoot,
    { row: (row) => seal(row, { values: reading2(row).values.with(7, 1) }) },
  ],
  [
    'the number of its neighbour',
    /^the places of the rows of batch 3 are not those of their numbers$/,
    { row: (row) => seal(row, { seq: row.reading.seq + 1 }) },
  ],
  [
    'the number of its neighbour, and its place',
    otherRoot,
    {
      row: (row) => seal(row, { seq: row.reading.seq + 1 }),
      run: inProof(([place]) => [moved(place, 1)]),
    },
  ],
  [
    'another place',
    /^the places of the rows of batch 3 are not those of their numbers$/,
    { run: inProof(([place]) => [moved(place, -1)]) },
  ],
  [
    'a place more',
    /^the places of the rows of batch 3 are not those of their numbers$/,
    { run: inProof((places) => [...places, [900, 900]]) },
  ],
  [
    'no place',
    /^the places of the rows of batch 3 are not those of their numbers$/,
    { run: inProof(() => []) },
  ],
  [
    'a number that the batch does not have',
    /^batch 3 does not number 5497558139907$/,
    { row: (row) => seal(row, { seq: row.reading.seq + 1_000 }) },
  ],
  [
    'a leaf of version 1',
    /^5497558138907 has a leaf of version 1, and batch 3 is of version 2$/,
    {
      row: (row) => {
        const { sensor, timeMs, seq, values, aqi } = reading2(row)
        const reading = { sensor, timeMs, seq, values, aqi }
        return { ...row, reading, hash: toHex(leafOf(reading, keccak)) }
      },
    },
  ],
  [
    'a run of version 1',
    /^5497558138907 has a leaf of version 2, and batch 3 is of version 1$/,
    { run: inHeader({ version: undefined }) },
  ],
  [
    'a manifest of version 1',
    /^row 1 \(NGR-LOS-IKJ-021\) has a leaf of version 2, and an export of version 1 has none$/,
    { manifest: ({ rows, runs }) => ({ rows, runs }) },
  ],
  [
    'another count',
    /^the header of batch 3 is at fault: count$/,
    { run: inHeader({ count: 1_001 }) },
  ],
  [
    'a header that was not anchored',
    /^batch 3: transaction: it anchors something else$/,
    { run: inHeader({ sealedMs: 1 }) },
  ],
  [
    'numbers that do not go on from the record before',
    /^the header of batch 3 is at fault: nFirst$/,
    {
      run: (run) => {
        const { nFirst, count } = run.headers[0]!
        return inHeader({ nFirst: nFirst.with(5, nFirst[5]! + 1), count: count - 1 })(run)
      },
    },
  ],
  [
    'no record before',
    /^it is not a manifest$/,
    { run: ({ headers, proofs, chain }) => ({ headers, proofs, chain }) },
  ],
  [
    'the period of another year',
    /^row 1 \(NGR-LOS-IKJ-021\) is of another time than the period from 2030-01-01T00:00:00Z to 2031-01-01T00:00:00Z$/,
    { manifest: ofPeriod('2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z') },
  ],
  [
    'a period that is none',
    /^the period of the rows has "x", which is not a time$/,
    { manifest: ofPeriod('2026-01-01T00:00:00Z', 'x') },
  ],
  ['a row too few', /^1 rows, and the manifest counts 2$/, { manifest: counting(2) }],
])('%s is refused with its reason', async (_, why, change) => {
  expect(await tampered('v2-in-a-city', change)).toMatch(why)
})

const ofRows = (rows: Partial<ExportManifest['rows']>): Change => ({
  manifest: (manifest) => ({ ...manifest, rows: { ...manifest.rows, ...rows } }),
})
const [model] = shippedCorrections
const withValue = (value: number | null): Change => ({
  ...ofRows({ corrections: [model!] }),
  row: (row) => ({ ...row, corrected: { pm25_epa_2021_ext: value } }),
})
const given = corrected(model!, sampleParts('v2-in-a-city').reading.values, undefined)

test.each<[string, RegExp, Change]>([
  ['of its sensor', /^proven$/, ofRows({ filter: { sensors: ['NGR-LOS-IKJ-021'] } })],
  [
    'of another sensor',
    /^row 1 .* is of another sensor than NGR-LOS-IKJ-001$/,
    ofRows({ filter: { sensors: ['NGR-LOS-IKJ-001'] } }),
  ],
  ['of its area', /^proven$/, ofRows({ filter: { areas: ['Ikeja', 'Yaba'] } })],
  [
    'of another area',
    /^row 1 .* is of Ikeja, and the export of Yaba$/,
    ofRows({ filter: { areas: ['Yaba'] } }),
  ],
  ['without failed readings', /^proven$/, ofRows({ filter: { quality: 'suspect' } })],
  [
    'of good readings',
    /^row 1 .* is not as good as the quality that the export has: good$/,
    ofRows({ filter: { quality: 'good' } }),
  ],
  ['by an empty filter', /^it is not a manifest$/, ofRows({ filter: {} })],
  ['with a corrected value', /^proven$/, withValue(Math.round(given! * 10) / 10)],
  // a model for some devices may give none for others
  ['without a corrected value', /^proven$/, withValue(null)],
  [
    'with another corrected value',
    /^row 1 .* has 1 as pm25_epa_2021_ext, and the model gives [\d.]+$/,
    withValue(1),
  ],
  [
    'with a model of another hash',
    /^the correction epa_2021_ext of the manifest has another hash than its model$/,
    ofRows({ corrections: [{ ...model!, version: 2 }] }),
  ],
])('an export %s is judged by what its manifest claims', async (_, why, change) => {
  expect(await tampered('v2-in-a-city', change)).toMatch(why)
})

test('a part or corrected values are of version 2, which older readers of version 1 refuse', () => {
  const { manifest } = exportOfBundles('alone')
  for (const more of [{ filter: { areas: ['Ikeja'] } }, { corrections: [model!] }]) {
    const rows = { ...manifest.rows, ...more }
    expect(parseManifest(manifestText({ ...manifest, rows }))).toBeUndefined()
    const read = parseManifest(manifestText({ ...manifest, version: 2, rows }))
    expect(read?.rows).toEqual(rows)
  }
})

type Places = readonly (readonly [number, number])[]
function moved(place: Places[number] | undefined, by: number): Places[number] {
  const [first, last] = place ?? [0, 0]
  return [first + by, last + by]
}
function inProof(change: (places: Places) => Places) {
  return (run: ExportRun): ExportRun => ({
    ...run,
    proofs: run.proofs.map((proof) => ({ ...proof, places: change(proof.places) })),
  })
}
function inHeader(fields: object) {
  return (run: ExportRun): ExportRun => ({
    ...run,
    headers: run.headers.map((header) => ({ ...header, ...fields })),
  })
}
function ofPeriod(from: string, to: string) {
  return (manifest: ExportManifest): ExportManifest => ({
    ...manifest,
    rows: { ...manifest.rows, from, to },
  })
}
function counting(count: number) {
  return (manifest: ExportManifest): ExportManifest => ({
    ...manifest,
    rows: { ...manifest.rows, count },
  })
}

test.each([[[]], [['v2-alone', 'v2-in-a-city']]] as const)(
  'an export of %j in which nothing is anchored proves nothing',
  async (names) => {
    const { rows, manifest } = exportOfBundles(...names)
    const counted = { ...manifest.rows, notAnchored: rows.length }
    const made = {
      rows: rows.map((row) => ({ ...row, batch: null })),
      manifest: { ...manifest, rows: counted, runs: [] },
    }
    expect(await whyNot(made)).toBe('nothing in it is anchored, so nothing is proven')
  },
)

test('two rows of one number are refused', async () => {
  const { rows, manifest } = exportOfBundles('v2-in-a-city')
  const other = seal(rows[0]!, { area: 'Lekki' })
  const runs = manifest.runs.map((run) => ({
    ...run,
    proofs: run.proofs.map((proof) => ({ ...proof, rows: 2 })),
  }))
  const made = { rows: [...rows, other], manifest: counting(2)({ ...manifest, runs }) }
  expect(await whyNot(made)).toBe(asAnother('row 2 (NGR-LOS-IKJ-021)', rows[0]!))
})

const asAnother = (row: string, { reading: { seq } }: ExportedRow): string =>
  `${row} has the number ${seq}, as another row has`

test('a row that no batch has is refused with the number of one that is anchored', async () => {
  const { rows, manifest } = exportOfBundles('v2-in-a-city')
  const other = { ...seal(rows[0]!, { area: 'Lekki' }), batch: null }
  const counted = { ...manifest.rows, count: 2, notAnchored: 1 }
  const made = { rows: [...rows, other], manifest: { ...manifest, rows: counted } }
  expect(await whyNot(made)).toBe(asAnother('row 2 (NGR-LOS-IKJ-021)', rows[0]!))
})

test('headers of another contract do not follow in one run', async () => {
  const { rows, manifest } = exportOfBundles('alone', 'v2-after-the-border')
  const [first, second] = manifest.runs
  const headers = [...first!.headers, ...second!.headers]
  const proofs = [...first!.proofs, ...second!.proofs]
  const joined = { ...manifest, runs: [{ ...second!, headers, proofs }] }
  const result = await checkExport(
    joined,
    (async function* () {
      yield* rows
    })(),
    { keccak },
  )
  expect(result).toEqual({ ok: false, why: 'the header of batch 2 is at fault: version' })
  // written, a run has one version
  expect(await whyNot({ rows, manifest: joined })).toMatch(/^the header of batch 2 is at fault: /)
})

const signedAs = (row: ExportedRow, signature: DeviceSignature): ExportedRow => ({
  ...seal(row, { device: deviceWord(signature) }),
  signature,
})
const [thief, weak] = [signingDevice('ed25519'), signingDevice('p256')]
const says = (text: string, from: string, to: string) => text.replace(from, to)

test.each<[string, RegExp, (row: ExportedRow, signature: DeviceSignature) => ExportedRow]>([
  [
    'no signature',
    /what its device signed is not there$/,
    ({ reading, hash, batch }) => ({ reading, hash, batch }),
  ],
  [
    'the signature of another device',
    /the signature is not the one whose hash is in its leaf$/,
    (row, { text }) => ({ ...row, signature: thief.sign(text) }),
  ],
  [
    'another text',
    /its key did not sign the text$/,
    (row, signed) => ({ ...row, signature: { ...signed, text: says(signed.text, '65', '66') } }),
  ],
  [
    'a signature with the high s',
    /the s of its signature is above half of the order$/,
    (row, { text }) => signedAs(row, weak.signHigh(text)),
  ],
  [
    'a key that is none',
    /no device can have its key of ed25519$/,
    (row, signed) => signedAs(row, { ...signed, publicKey: Buffer.alloc(32).toString('base64') }),
  ],
  [
    'a signature that is too short',
    /the signature is not 64 bytes in base64$/,
    (row, signed) => signedAs(row, { ...signed, signature: 'AAAA' }),
  ],
  [
    'the text of another sensor',
    /the text is of another sensor$/,
    (row, { text }) => signedAs(row, thief.sign(says(text, 'IKJ-007', 'IKJ-008'))),
  ],
  [
    'the text of another time',
    /the text is of another time$/,
    (row, { text }) => signedAs(row, thief.sign(says(text, '1767225607000', '1767225607001'))),
  ],
  [
    'another value that was signed',
    /the humidity that was signed is not that of the reading$/,
    (row, { text }) => signedAs(row, thief.sign(says(text, 'humidity=65', 'humidity=64'))),
  ],
  [
    'a value that was not signed',
    /the pm25 that was signed is not that of the reading$/,
    (row, { text }) => signedAs(row, thief.sign(says(text, '\npm25=22.70', ''))),
  ],
  [
    'a value that was signed and left out',
    /the temperature that was signed is not that of the reading$/,
    (row, { text }) => signedAs(seal(row, { flags: 0 }), thief.sign(text)),
  ],
  [
    'a value that was signed, left out and marked as dropped',
    /the humidity that was signed is not that of the reading$/,
    (row, { text }) =>
      signedAs(seal(row, { flags: 24, values: row.reading.values.slice(0, 3) }), thief.sign(text)),
  ],
  [
    'values that are not sorted',
    /the values of the text are not sorted by name$/,
    (row, { text }) => signedAs(row, thief.sign(`${text}\naqi=1`)),
  ],
  [
    'a value twice',
    /the values of the text are not sorted by name$/,
    (row, { text }) =>
      signedAs(row, thief.sign(says(text, 'pm10=34.005', 'pm10=34.005\npm10=34.005'))),
  ],
  [
    'a line that is not a value',
    /the text has a line that is not a value$/,
    (row, { text }) => signedAs(row, thief.sign(`${text}\nx=0x1`)),
  ],
  [
    'no value',
    /the text has not 1 to 64 values$/,
    (row, { text }) => signedAs(row, thief.sign(text.split('\n').slice(0, 3).join('\n'))),
  ],
  [
    'another first line',
    /the text is not one that devices sign$/,
    (row, { text }) => signedAs(row, thief.sign(says(text, 'v1', 'v2'))),
  ],
])('a signed row with %s is refused with its reason', async (_, why, change) => {
  const printed = await tampered('v2-ed25519', { row: (row) => change(row, row.signature!) })
  expect(printed).toMatch(/^row 1 \(NGR-LOS-IKJ-007\) is not signed as it says: /)
  expect(printed).toMatch(why)
})

test('a number that no double holds was dropped, as any that cannot be', async () => {
  const printed = await tampered('v2-ed25519', {
    row: (row) => signedAs(row, thief.sign(says(row.signature!.text, '=900', '=9e999'))),
  })
  // what was signed passes; it is not the anchored leaf
  expect(printed).toBe('the rows of batch 1 do not lead to its root: one was changed')
})

test('the key and the signature are in the bundle that stands for a run', async () => {
  const { rows } = exportOfBundles('v2-p256')
  const result = await checked(exportOfBundles('v2-p256'))
  const names = result.ok ? result.runs.flatMap(({ checks }) => checks.map(({ name }) => name)) : []
  expect(names).toContain('signature')
  const word: Hex | undefined = reading2(rows[0]!).device
  expect(word).toBe(deviceWord(rows[0]!.signature!))
})
