import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { citationText, citedFiles } from '../../api/archive/citation.ts'
import type { CatalogueRun } from '../../operate/archive/catalogue.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const run = (number: number, days: readonly string[]): CatalogueRun => ({
  run: number,
  manifest: `runs/run-${number}.manifest.json`,
  sha256: sha256(`m${number}`),
  bytes: 1,
  readings: days.length,
  files: days.map((day) => ({
    path: `readings/${day}/part-${number}.parquet`,
    sha256: sha256(`${day} ${number}`),
    bytes: 1,
    rows: 10,
    day,
  })),
  hashes: [],
  before: {} as never,
  after: {} as never,
})
const first = run(1, ['2026-03-01', '2026-03-02', '2026-03-03'])
const late = run(2, ['2026-03-02'])

test('what is cited is the files of these days, and the manifests that prove them', () => {
  const cited = citedFiles(
    { runs: [first, late] },
    { from: '2026-03-02', to: '2026-03-03', runs: 2 },
  )
  expect(cited.sums.split('\n').map((line) => line.slice(66))).toEqual([
    'readings/2026-03-02/part-1.parquet',
    'readings/2026-03-02/part-2.parquet',
    'readings/2026-03-03/part-1.parquet',
    'runs/run-1.manifest.json',
    'runs/run-2.manifest.json',
    '',
  ])
  expect(cited).toMatchObject({ sha256: sha256(cited.sums), files: 5, readings: 30 })
})

test('a late run leaves what was cited as it is', () => {
  const period = { from: '2026-03-01', to: '2026-03-31', runs: 1 }
  const before = citedFiles({ runs: [first] }, period)
  expect(citedFiles({ runs: [first, late] }, period)).toEqual(before)
  expect(citedFiles({ runs: [first, late] }, { ...period, runs: 2 }).sha256).not.toBe(before.sha256)
})

test('a citation names whom, what, until which run, the hash and the licence', () => {
  const cited = {
    period: { from: '2026-03-01', to: '2026-03-31', runs: 7 },
    sha256: 'ab',
    link: 'https://air.example/archive/cite?x',
  }
  const network = { name: 'Lagos', attribution: 'A School', licence: 'CC-BY-4.0' }
  expect(citationText({ ...cited, network })).toBe(
    'A School. Readings of network Lagos, 2026-03-01 to 2026-03-31 (UTC), runs 1 to 7 of its archive. SHA-256 ab. Licence CC-BY-4.0. https://air.example/archive/cite?x',
  )
  expect(citationText({ ...cited, network: { ...network, licence: null } })).not.toContain(
    'Licence',
  )
})
