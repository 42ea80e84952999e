import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ArchiveReading, noRows, rawBody } from '../../cli/replay/archive-format.ts'
import {
  type ArchiveFormatName,
  archiveFormatNames,
  archiveFormats,
  holdsMessages,
} from '../../cli/replay/archive-formats.ts'
import { archiveIds } from '../../cli/replay/archive-id.ts'
import { findFiles } from '../../cli/replay/find-files.ts'
import { mergeByTime } from '../../cli/replay/merge-by-time.ts'
import { shiftMessage } from '../../cli/replay/message-time.ts'
import { paceOf } from '../../cli/replay/pace.ts'
import { readArchive } from '../../cli/replay/read-archive.ts'
import { openReadings } from '../../cli/replay/sensors-africa.ts'
import { surveyArchive } from '../../cli/replay/survey.ts'
import type { SensorId } from '../../core/air/sensor-id.ts'

const fixtures = join(import.meta.dirname, '../fixtures/archives')
const africaHeader = 'sensor_id;sensor_type;location;lat;lon;timestamp;value_type;value'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'airproof-archives-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function file(content: string | Uint8Array, ending = '.csv'): string {
  const name = join(folder, `${files++}${ending}`)
  writeFileSync(name, content)
  return name
}

async function read(name: string, format: ArchiveFormatName) {
  const counts = noRows()
  const readings: ArchiveReading[] = []
  const unsendable: string[] = []
  const onUnsendable = (where: string, why: string) => void unsendable.push(`${where} ${why}`)
  const options = { format: archiveFormats[format], counts, onUnsendable }
  for await (const chunk of readArchive(name, options)) readings.push(...chunk)
  const values = readings.reduce(
    (sum, { message, values: found }) => sum + (message?.items ?? Object.keys(found).length),
    0,
  )
  expect(counts.values).toBe(values)
  expect(counts.rows).toBe(counts.values + counts.unmapped)
  return { readings, counts, unsendable }
}

const row = (sensor: string, time: string, type: string, value: string): string =>
  `${sensor};x;9;6.5;3.4;${time};${type};${value}`
const africa = (...rows: readonly string[]): Promise<Awaited<ReturnType<typeof read>>> =>
  read(file([africaHeader, ...rows, ''].join('\n')), 'sensors-africa')

const t1 = '2025-01-14T05:00:03.120034+00:00'
const t2 = '2025-01-14T05:01:03.120034+00:00'

describe('an archive with one value per row', () => {
  it('makes one reading of the rows of a sensor and timestamp, wherever they are', async () => {
    const { readings, counts } = await africa(
      row('71', t1, 'P2', '19.00'),
      row('72', t1, 'humidity', '82.60'),
      row('71', t2, 'P2', '20'),
      row('71', t1, 'P1', '25.5'),
      row('71', t1, 'P0', '9'),
      row('72', t1, 'temperature', '-2.40'),
    )
    expect(readings).toEqual([
      {
        sensor: '71',
        timestamp: t1,
        timeMs: Date.UTC(2025, 0, 14, 5, 0, 3, 120),
        place: { lat: 6.5, lon: 3.4, location: '9' },
        values: { pm25: 19, pm10: 25.5, pm1: 9 },
      },
      expect.objectContaining({ sensor: '72', values: { humidity: 82.6, temperature: -2.4 } }),
      expect.objectContaining({ sensor: '71', timestamp: t2, values: { pm25: 20 } }),
    ])
    expect(counts).toEqual({ rows: 6, values: 6, unmapped: 0 })
  })

  it('makes repeated rows a repeated reading, in either order of the rows', async () => {
    const pairs = [
      ['P2', 'P1', 'P2', 'P1'],
      ['P2', 'P2', 'P1', 'P1'],
    ]
    for (const types of pairs) {
      const { readings } = await africa(...types.map((type) => row('71', t1, type, '5')))
      expect(readings.map(({ values }) => values)).toEqual([
        { pm25: 5, pm10: 5 },
        { pm25: 5, pm10: 5 },
      ])
    }
  })

  it('counts what is not a number and what has no name as unmapped, and sends neither', async () => {
    const { readings, counts } = await africa(
      row('71', t1, 'P2', 'nan'),
      row('71', t1, 'P1', ''),
      row('71', t1, 'P1', '1e999'),
      row('71', t1, 'N10', '101202'),
      'half a row',
    )
    expect(readings).toEqual([])
    expect(counts).toEqual({ rows: 5, values: 0, unmapped: 5 })
  })

  it('gives a time that names no offset a Z, and leaves an unreadable one to the pipeline', async () => {
    const { readings } = await africa(
      row('71', '2025-01-14T05:00:03', 'P2', '1'),
      row('71', '2025-01-14 05:00:03+01:00', 'P2', '1'),
      row('71', 'yesterday', 'P2', '1'),
    )
    expect(readings.map(({ timestamp, timeMs }) => [timestamp, timeMs])).toEqual([
      ['2025-01-14T05:00:03Z', Date.UTC(2025, 0, 14, 5, 0, 3)],
      ['2025-01-14 05:00:03+01:00', Date.UTC(2025, 0, 14, 4, 0, 3)],
      ['yesterday', undefined],
    ])
  })

  it('holds a bounded number of readings open, and loses no row of the others', async () => {
    const early = Array.from({ length: openReadings + 10 }, (_, i) =>
      row(String(1_000 + i), t1, 'P2', '1'),
    )
    const late = Array.from({ length: 11 }, (_, i) => row(String(1_000 + i), t1, 'P1', '2'))
    const { readings, counts } = await africa(...early, ...late)
    expect(counts.values).toBe(openReadings + 21)
    // those ten had left when their second row came, which therefore is a reading of its own
    expect(readings.filter(({ values }) => values.pm25 === undefined).length).toBeGreaterThan(9)
    expect(readings.length).toBeLessThanOrEqual(openReadings + 21)
  })

  it('takes quoted fields, CRLF, a byte order mark, and gzip', async () => {
    const text = `\uFEFF${africaHeader}\r\n"71";"x";"9";"6.5";"3.4";"${t1}";"P2";"19.00"\r\n`
    const plain = await read(file(text), 'sensors-africa')
    expect(plain.readings).toMatchObject([{ sensor: '71', values: { pm25: 19 } }])
    const packed = await read(file(gzipSync(text), '.csv.gz'), 'sensors-africa')
    expect(packed).toEqual(plain)
  })

  it('reads the same whatever the pieces the file comes in', async () => {
    const source = readFileSync(join(fixtures, 'sensors-africa.csv'), 'utf8')
    const whole = await read(join(fixtures, 'sensors-africa.csv'), 'sensors-africa')
    expect(whole.counts).toEqual({ rows: 38, values: 37, unmapped: 1 })
    // more rows than one piece of the file holds: nothing is cut at the seams
    const lines = source.trimEnd().split('\n')
    const many = Array.from({ length: 100 }, (_, i) =>
      lines.slice(1).map((line) => line.replaceAll('2025-01-14', `${2101 + i}-01-14`)),
    )
    const long = await africa(...many.flat())
    expect(long.counts).toEqual({ rows: 3_800, values: 3_700, unmapped: 100 })
    expect(long.readings).toHaveLength(100 * whole.readings.length)
  })
})

describe('an archive with one reading per row', () => {
  it('finds its quantities by their columns and counts the filled cells of others', async () => {
    const { readings, counts } = await read(
      join(fixtures, 'sensor-community/2025-01-14_bme280_sensor_6202.csv'),
      'sensor-community',
    )
    expect(readings.map(({ values }) => values)).toEqual([
      { pressure: 1010.025, temperature: 20.6, humidity: 80.5 },
      { pressure: 1011.025, temperature: 21.6, humidity: 81.5 },
      { pressure: 1012.025 },
      { pressure: 1013.025, temperature: 23.6, humidity: 83.5 },
      { pressure: 1014.025, temperature: 24.6, humidity: 84.5 },
    ])
    expect(readings[0]?.timestamp).toBe('2025-01-14T00:00:30Z')
    expect(counts).toEqual({ rows: 13, values: 13, unmapped: 0 })
  })

  it('takes P1 for PM10 and P2 for PM2.5', async () => {
    const name = join(fixtures, 'sensor-community/2025-01-14_sds011_sensor_6201.csv')
    const { readings } = await read(name, 'sensor-community')
    expect(readings[0]?.values).toEqual({ pm10: 20.1, pm25: 9.25 })
  })
})

describe('an archive of raw readings', () => {
  it('gives each line unchanged, and names the one without a sensor', async () => {
    const name = join(fixtures, 'readings.ndjson')
    const lines = readFileSync(name, 'utf8').trimEnd().split('\n')
    const { readings, counts, unsendable } = await read(name, 'ndjson')
    expect(readings.map(({ message }) => message?.bytes)).toEqual(lines.slice(0, 4))
    expect(readings.map(({ sensor, timeMs }) => [sensor, timeMs])).toEqual([
      ['NGR-LOS-IKJ-901', Date.UTC(2025, 0, 14, 5, 0)],
      ['NGR-LOS-IKJ-901', undefined],
      ['77', Date.UTC(2025, 0, 14, 6, 5, 10)],
      ['NGR-LOS-IKJ-901', Date.UTC(2025, 0, 14, 5, 10)],
    ])
    expect(counts).toEqual({ rows: 5, values: 4, unmapped: 1 })
    expect(unsendable).toEqual([`${name}:5 no sensor_id can be read from it`])
  })

  it('keeps every byte, also of invalid UTF-8, and drops only line ends and a byte order mark', async () => {
    const broken = Buffer.concat([
      Buffer.from('{"sensor_id":"NGR-LOS-IKJ-901","note":"'),
      Buffer.from([0xff, 0x80, 0x9f]),
      Buffer.from('é"}'),
    ])
    const content = Buffer.concat([Buffer.from('\uFEFF'), broken, Buffer.from('\r\n\n'), broken])
    const { readings } = await read(file(content, '.ndjson'), 'ndjson')
    const bytes = readings.map(({ message }) => Buffer.from(message?.bytes ?? '', 'latin1'))
    expect(bytes).toEqual([broken, broken])
  })

  it('finds the sensor of an array, of a line cut short and of one with NaN, and counts items', async () => {
    const id = '"sensor_id":"NGR-LOS-IKJ-901"'
    const time = '"timestamp":"2025-01-14T06:00:00Z"'
    const cases: [line: string, items: number][] = [
      [`[{${id},"timestamp":"2025-01-14T05:00:00Z"},{${time}},7]`, 3],
      [`{${id},"pm25":3`, 1],
      [`{${id},"pm25":NaN}`, 1],
      [`[${Array.from({ length: 501 }, () => `{${id},${time}}`).join(',')}]`, 1],
      [`{${id},"note":"${'x'.repeat(132_000)}"}`, 1],
    ]
    const { readings } = await read(file(cases.map(([line]) => line).join('\n')), 'ndjson')
    expect(readings.map(({ message }) => message?.items)).toEqual(cases.map(([, items]) => items))
    expect(readings[0]?.timeMs).toBe(Date.UTC(2025, 0, 14, 6))
  })

  it('cannot send a line without a sensor, with an invalid name, or larger than NATS takes', async () => {
    const lines = [
      '[]',
      '[{"pm25":1},{"sensor_id":"NGR-LOS-IKJ-901"}]',
      '{"sensor_id":12}',
      '{"sensor_id":"a.b"}',
      '"text"',
      `{"sensor_id":"NGR-LOS-IKJ-901","note":"${'x'.repeat(134_200)}"}`,
    ]
    const { readings, counts, unsendable } = await read(file(lines.join('\n')), 'ndjson')
    expect(readings).toEqual([])
    expect(counts).toEqual({ rows: 6, values: 0, unmapped: 6 })
    expect(
      unsendable.map((note) => /:(\d) (no sensor_id|its|\d+ bytes)/.exec(note)?.slice(1)),
    ).toEqual([
      ['1', 'no sensor_id'],
      ['2', 'no sensor_id'],
      ['3', 'no sensor_id'],
      ['4', 'its'],
      ['5', 'no sensor_id'],
      ['6', expect.stringMatching(/bytes/)],
    ])
  })

  it('moves the times that can be read and no other letter', () => {
    const before = '{ "timestamp" : "2025-01-14T06:00:00+01:00","pm25":45.30,"pm25":1e0}'
    const after = '{ "timestamp" : "2025-01-14T05:01:00Z","pm25":45.30,"pm25":1e0}'
    expect(shiftMessage(before, 60_000)).toBe(after)
    expect(shiftMessage(before, 0)).toBe(before)
    for (const unread of ['"2025-01-14T06:00:00"', '"yesterday"', '7', 'null'])
      expect(shiftMessage(`{"timestamp":${unread}}`, 60_000)).toBe(`{"timestamp":${unread}}`)
  })
})

describe('a file of another format', () => {
  it('is refused by name, with the reason', async () => {
    const wide = join(fixtures, 'sensor-community/2025-01-14_sds011_sensor_6201.csv')
    await expect(read(wide, 'sensors-africa')).rejects.toThrow(/6201\.csv.*"value_type"/)
    await expect(read(wide, 'ndjson')).rejects.toThrow(/not a JSON object/)
    await expect(read(join(fixtures, 'sensors-africa.csv'), 'sensor-community')).rejects.toThrow(
      /one value each/,
    )
    await expect(read(file('timestamp,temp\n1,2\n'), 'sensors-africa')).rejects.toThrow(
      /no column "sensor_id"/,
    )
  })
})

describe('ids of an archive', () => {
  it('are made of the code and the name, or are the name where that is an id', () => {
    const idOf = archiveIds({ idPrefix: 'NGR-LOS', code: 'ARC' })
    expect(idOf('4851')).toBe('NGR-LOS-ARC-4851')
    expect(idOf('7')).toBe('NGR-LOS-ARC-007')
    expect(idOf('NGR-LOS-IKJ-901')).toBe('NGR-LOS-IKJ-901')
    expect(idOf('a b')).toBeUndefined()
    expect(() => archiveIds({ idPrefix: 'NGR-LOS', code: 'arc' })).toThrow(/--code/)
  })
})

describe('a survey', () => {
  const survey = async (format: ArchiveFormatName, ...paths: string[]) =>
    await surveyArchive(await findFiles(paths), {
      format: archiveFormats[format],
      idOf: archiveIds({ idPrefix: 'NGR-LOS', code: 'ARC' }),
    })

  it('lists the sensors, the number of readings, and the time they cover', async () => {
    const found = await survey('sensors-africa', join(fixtures, 'sensors-africa.csv'))
    expect([...found.sensors.keys()].toSorted()).toEqual([
      'NGR-LOS-ARC-7101',
      'NGR-LOS-ARC-7102',
      'NGR-LOS-ARC-7103',
    ])
    expect(found.readings).toBe(16)
    expect(found.firstMs).toBe(Date.UTC(2025, 0, 14, 5, 0, 3, 120))
  })

  it('reads a folder, file by file, and ignores what is not an archive', async () => {
    const found = await survey('sensor-community', join(fixtures, 'sensor-community'))
    expect(found.files).toHaveLength(3)
    const stays = found.sensors.get('NGR-LOS-ARC-6201' as SensorId)?.stays
    expect(stays?.map(({ place }) => place.location)).toEqual(['9101', '9102'])
    const files = globSync(join(fixtures, '**/*.{csv,ndjson}'))
    await expect(findFiles([fixtures])).resolves.toHaveLength(files.length)
    await expect(findFiles([join(fixtures, 'none')])).rejects.toThrow(/there is no/)
  })
})

describe('many files', () => {
  it('become one stream by time, with every reading', async () => {
    const random = fc.sample(
      fc.array(fc.array(fc.nat(9_999), { minLength: 1, maxLength: 30 }), {
        minLength: 1,
        maxLength: 12,
      }),
      { numRuns: 20, seed: 4 },
    )
    for (const [run, contents] of random.entries()) {
      const names = contents.map((seconds, index) => {
        const rows = seconds
          .toSorted((a, b) => a - b)
          .map((s) => {
            const time = new Date(Date.UTC(2025, 0, 1) + s * 1_000).toISOString()
            return JSON.stringify({ sensor_id: String(100 + index), timestamp: time, pm25: s })
          })
        return file(`${rows.join('\n')}\n`, `-${run}.ndjson`)
      })
      const idOf = archiveIds({ idPrefix: 'NGR-LOS', code: 'ARC' })
      const format = archiveFormats.ndjson
      const survey = await surveyArchive(names, { format, idOf })
      const merged: number[] = []
      for await (const chunk of mergeByTime(survey.files, { format, counts: noRows() }))
        for (const { message } of chunk)
          merged.push(Number(/"pm25":(\d+)/.exec(message?.bytes ?? '')?.[1]))
      expect(merged).toEqual(contents.flat().toSorted((a, b) => a - b))
    }
  })
})

describe('the pace of a replay', () => {
  const firstMs = Date.UTC(2025, 0, 1)
  const nowMs = Date.UTC(2026, 0, 1)

  it('never sends a reading before its shifted time, at any speed', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constant(Infinity), fc.double({ min: 0.01, max: 1_000, noNaN: true })),
        fc.nat(1e9),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (speed, spanMs, share) => {
          const lastMs = firstMs + spanMs
          const pace = paceOf({ speed, shiftToNow: true, firstMs, lastMs, nowMs })
          const timeMs = firstMs + Math.floor(spanMs * share)
          const sentMs = Math.max(nowMs, pace.dueMs(timeMs))
          // half a millisecond of rounding
          expect(timeMs + pace.shiftMs).toBeLessThanOrEqual(sentMs + 0.5)
        },
      ),
    )
  })

  it('keeps the distances, divided by the speed, and the times where nothing is shifted', () => {
    const pace = paceOf({ speed: 60, shiftToNow: false, firstMs, lastMs: firstMs + 1e6, nowMs })
    expect(pace.shiftMs).toBe(0)
    expect(pace.dueMs(firstMs + 60_000) - pace.dueMs(firstMs)).toBe(1_000)
  })
})

describe('a raw message of an archive', () => {
  const reading: ArchiveReading = {
    sensor: '71',
    timestamp: t1,
    timeMs: Date.UTC(2025, 0, 14, 5, 0, 3, 120),
    place: undefined,
    values: { pm25: 19, humidity: 40.5 },
  }

  it('carries the time as the archive wrote it, or the shifted one', () => {
    const id = 'NGR-LOS-ARC-071' as SensorId
    expect(JSON.parse(rawBody(id, reading, 0))).toEqual({
      sensor_id: id,
      timestamp: t1,
      pm25: 19,
      humidity: 40.5,
    })
    expect(JSON.parse(rawBody(id, reading, 1_880))).toMatchObject({
      timestamp: '2025-01-14T05:00:05Z',
    })
  })
})

const samples: Readonly<Record<ArchiveFormatName, string>> = {
  'sensors-africa': 'sensors-africa.csv',
  'sensor-community': 'sensor-community',
  ndjson: 'readings.ndjson',
}

it.each(archiveFormatNames)('%s has a file of its own that is read', async (name) => {
  const names = await findFiles([join(fixtures, samples[name])])
  const idOf = archiveIds({ idPrefix: 'NGR-LOS', code: 'ARC' })
  const found = await surveyArchive<string>(names, {
    format: archiveFormats[name],
    idOf: holdsMessages(name) ? (sensor) => sensor : idOf,
  })
  expect(found.readings).toBeGreaterThan(0)
  expect(found.firstMs).toBeGreaterThan(0)
})

it('is in the list if a file of replay makes it, and on the page of the command line', async () => {
  const found: unknown[] = []
  for (const name of globSync('cli/replay/*.ts')) {
    const made: Record<string, unknown> = await import(`../../${name}`)
    for (const value of Object.values(made))
      if (value instanceof Object && 'holds' in value && 'open' in value) found.push(value)
  }
  expect(found.length).toBeGreaterThan(2)
  expect(new Set(Object.values(archiveFormats))).toEqual(new Set(found))
  const page = readFileSync('docs/cli.md', 'utf8')
  for (const name of archiveFormatNames)
    expect(page).toMatch(new RegExp(`(--format |\`)${name}\\b`))
  expect(archiveFormatNames).not.toContain('csv')
  expect(archiveFormatNames).not.toContain('geojson')
})
