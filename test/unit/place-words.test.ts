/** How the air is at a place: what is computed from the API's answers, and the words for it. */
import { expect, test } from 'vitest'
import type { PlaceNow } from '../../dashboard/place-now.ts'
import { placeWords, plainName, shortened, timeIn } from '../../dashboard/place-words.ts'
import { html } from '../../dashboard/server/html.ts'
import { airOf, dayOf, meansOf } from '../../dashboard/server/places/air-of.ts'
import { badgeSvg } from '../../dashboard/server/places/badge.ts'
import { placeCard, proofCard, wrapped } from '../../dashboard/server/places/card.ts'
import { embedPage } from '../../dashboard/server/places/embed.ts'
import { placeText } from '../../dashboard/server/places/place-text.ts'
import { fillShell, placeShell } from '../../dashboard/server/places/shell.ts'
import { openUsual } from '../../dashboard/server/places/usual.ts'
import { catalogue } from '../../dashboard/texts/en/server.ts'
import { formatsOf } from '../../dashboard/texts/format.ts'
import { catalogue as french } from '../../dashboard/texts/fr/server.ts'

const hourMs = 3_600_000
const nowMs = Date.parse('2026-11-22T14:05:00Z')
const en = { ...catalogue, categories: catalogue.common.categories, format: formatsOf('en') }
const fr = { ...french, categories: french.common.categories, format: formatsOf('fr') }

const hour = (age: number, pm25: number | null, pm10: number | null = null, n = 60) => ({
  startMs: Math.floor(nowMs / hourMs) * hourMs - age * hourMs,
  n,
  means: { pm25, pm10 },
})

test('with a NowCast the index is that, and its pollutant follows from the hours', () => {
  const hours = [hour(0, 10, 300), hour(1, 10, 300), hour(2, 10, 300)]
  expect(airOf({ nowcast: 173, hours, recent: undefined, nowMs })).toEqual({
    aqi: 173,
    category: 'unhealthy',
    basis: 'nowcast',
    pollutant: 'pm10',
  })
  // hours of yesterday say nothing about now
  expect(airOf({ nowcast: 60, hours: [hour(30, 90)], recent: undefined, nowMs })).toMatchObject({
    pollutant: null,
  })
})

test('with too few hours it is the mean of ten minutes, which it says, and without readings none', () => {
  const recent = { pm25: 40, pm10: 20 }
  expect(airOf({ nowcast: null, hours: [], recent, nowMs })).toEqual({
    aqi: 112,
    category: 'unhealthy_sensitive',
    basis: 'ten_minutes',
    pollutant: 'pm25',
  })
  expect(airOf({ nowcast: null, hours: [hour(1, 40)], recent: undefined, nowMs })).toBeNull()
  expect(airOf({ nowcast: null, hours: [], recent: { pm25: null, pm10: null }, nowMs })).toBeNull()
})

test('the day is set against the guideline that it is furthest above: 15 µg/m³ of PM2.5, 45 of PM10', () => {
  expect(dayOf({ pm25: 30, pm10: 45 }, 24)).toMatchObject({ pollutant: 'pm25', timesGuideline: 2 })
  expect(dayOf({ pm25: 15, pm10: 180 }, 20)).toMatchObject({ pollutant: 'pm10', timesGuideline: 4 })
  expect(dayOf({ pm25: null, pm10: null }, 0)).toBeNull()
  // an hour with more readings weighs more
  expect(meansOf([hour(0, 10, null, 30), hour(1, 20, null, 90)])).toEqual({
    pm25: 17.5,
    pm10: null,
  })
})

const place = (more: Partial<PlaceNow> = {}): PlaceNow => ({
  kind: 'area',
  id: 'ikeja',
  name: 'Ikeja',
  area: null,
  sensors: { total: 4, reporting: 3, never_reported: 0 },
  isRetired: false,
  silence: null,
  air: { aqi: 141, category: 'unhealthy_sensitive', basis: 'nowcast', pollutant: 'pm25' },
  day: { pollutant: 'pm25', ugM3: 34.5, timesGuideline: 2.3, guideline: 15, hours: 24 },
  last_reading: '2026-11-22T14:04:50.000Z',
  last_index: null,
  usual: null,
  usual_from: null,
  timezone: 'Africa/Lagos',
  made_at: '2026-11-22T14:05:00.000Z',
  ...more,
})

test('the words have the number, its basis, advice, the guideline, and the local time with its zone', () => {
  expect(placeWords(place(), en)).toMatchObject({
    number: '141',
    verdict: 'Unhealthy for sensitive groups',
    basis: 'US AQI · NowCast of the last 12 hours',
    times: '2.3 × WHO guideline',
    mean: 'PM2.5, 24-hour mean: 34.5 µg/m³ (guideline for 24 hours: 15 µg/m³)',
    time: '15:05, West Africa Time',
    state: '3 of 4 sensors online',
    facts: [
      'PM2.5, 24-hour mean: 34.5 µg/m³ (guideline for 24 hours: 15 µg/m³)',
      'Main pollutant: PM2.5',
      'From values as measured, not corrected',
    ],
  })
  expect(placeWords(place(), en).advice).toMatch(/^Children, older people/)
  const ten = place({
    air: { aqi: 60, category: 'moderate', basis: 'ten_minutes', pollutant: 'pm25' },
    day: { pollutant: 'pm25', ugM3: 12, timesGuideline: 0.8, guideline: 15, hours: 1 },
  })
  expect(placeWords(ten, en)).toMatchObject({
    basis: 'US AQI · 10-minute mean: not enough data for NowCast yet',
    times: 'Within the WHO guideline',
    mean: 'PM2.5, mean of one hour of the last 24: 12.0 µg/m³ (guideline for 24 hours: 15 µg/m³)',
  })
  expect(placeWords(place(), fr)).toMatchObject({
    times: '2,3 × la ligne directrice de l’OMS',
    time: '15:05, heure d’Afrique de l’Ouest',
  })
})

const ofSensor = {
  kind: 'sensor',
  sensors: { total: 1, reporting: 0, never_reported: 0 },
  air: null,
  day: null,
} as const
const at = '2026-11-22T14:04:50.000Z'

test.each([
  ['silent', { at }, /^Nothing arrives from it/, /^Rien n’arrive de lui/],
  ['retired', { at }, /taken out of the network/, /retiré du réseau/],
  ['ended', { at: null }, /operator has ended/, /opérateur a mis fin/],
  ['not_accepted', { at }, /\(last 22 Nov 2026, 15:04.*not accepted/, /n’est pas accepté/],
  ['not_accepted', { at: null }, /^Something arrives under its name, but/, /sous son nom, mais/],
  ['connected', { at: null }, /connected, but sends no readings/, /connecté, mais/],
  ['never', { at: null }, /has not sent a reading yet/, /pas encore envoyé/],
  [
    'outage',
    { at, place: 'Lagos' },
    /^No sensor of Lagos .* since 22 Nov 2026, 15:04/,
    /^Aucun capteur de Lagos/,
  ],
  [
    'outage',
    { at: null, silent: 31, of: 40, place: 'Lagos' },
    /^31 of 40 sensors of Lagos/,
    /^31 capteurs/,
  ],
] as const)(
  'a sensor that is %s says why it does not report, and gives no advice',
  (kind, more, words, french) => {
    const silence = { kind, ...more }
    const last_index = { aqi: 112, category: 'unhealthy_sensitive' } as const
    const silent = place({ ...ofSensor, silence, last_index, isRetired: kind === 'retired' })
    expect(placeWords(silent, en)).toMatchObject({
      number: '–',
      verdict: 'No index now',
      state: kind === 'retired' ? 'Retired' : 'Offline',
      advice: expect.stringMatching(words),
      last: 'Last measured: US AQI 112, Unhealthy for sensitive groups, 22 Nov 2026, 15:04, West Africa Time.',
      facts: [],
    })
    expect(placeWords(silent, fr).advice).toMatch(french)
  },
)

test('a sensor that never sent is called that, not offline', () => {
  const silence = { kind: 'never', at: null } as const
  expect(placeWords(place({ ...ofSensor, silence, last_reading: null }), en)).toMatchObject({
    state: 'Has not sent yet',
    last: undefined,
  })
})

test('a place from which nothing arrives says so, since when, and gives no advice', () => {
  const silence = { kind: 'outage', at, silent: 4, of: 4 } as const
  const sensors = { total: 4, reporting: 0, never_reported: 0 }
  const dead = place({ silence, sensors, air: null, day: null })
  expect(placeWords(dead, en)).toMatchObject({
    number: '–',
    verdict: 'No data arrives',
    state: '0 of 4 sensors online',
    advice: expect.stringMatching(
      /^Nothing has arrived since 22 Nov 2026, 15:04, West Africa Time/,
    ),
  })
  expect(placeText(dead, en, server.publicUrl)).toMatch(
    /^Ikeja: No data arrives\nNothing has arrived since 22 Nov 2026, 15:04/,
  )
})

test.each([
  [62, 9, 'Worse than usual: on a Sunday at 15:00 the average index here is 62 (9 weeks of data)'],
  [
    141,
    12,
    'About as usual: on a Sunday at 15:00 the average index here is 141 (12 weeks of data)',
  ],
  [
    120,
    12,
    'About as usual: on a Sunday at 15:00 the average index here is 120 (12 weeks of data)',
  ],
  [
    230,
    3,
    'Better than usual: on a Sunday at 15:00 the average index here is 230 (3 weeks of data)',
  ],
] as const)('an index of 141 where %i is usual: %s weeks', (aqi, weeks, words) => {
  expect(placeWords(place({ usual: { aqi, weeks } }), en).facts[0]).toBe(words)
})

test('until enough is known for that, the day from which it will be', () => {
  const young = place({ usual_from: '2026-12-06T14:00:00.000Z' })
  expect(placeWords(young, en).facts[0]).toBe('Usual for this hour: known from 6 Dec')
  expect(placeWords(young, fr).facts[0]).toMatch(/connue à partir du 6 déc\.$/)
})

test('what is usual is not said where there is no air to compare', () => {
  for (const known of [
    { usual: { aqi: 62, weeks: 9 } },
    { usual_from: '2026-12-06T14:00:00.000Z' },
  ])
    expect(placeWords(place({ ...known, air: null }), en).facts.join()).not.toMatch(/usual/i)
})

// Sunday, 15:05 in Lagos; an hour of every 10 s
const perHour = 360
test.each([
  ['no week', 0, 0, { usual: null, usual_from: '2026-12-13T14:00:00.000Z' }],
  ['two weeks', 2, 2, { usual: null, usual_from: '2026-11-29T14:00:00.000Z' }],
  ['three weeks', 3, 3, { usual: { aqi: 62, weeks: 3 }, usual_from: null }],
  // 1 of 6 hours; with 4 more 5 of 10
  ['six weeks, hardly any readings', 6, 1, { usual: null, usual_from: '2026-12-20T14:00:00.000Z' }],
] as const)('what is usual after %s', async (_, sundays, hours, known) => {
  const week = 7 * 24 * hourMs
  const today = Date.parse('2026-11-21T23:00:00Z')
  const steps: Readonly<Record<string, readonly unknown[]>> = {
    // today is not over: it is not a week of this hour
    day: Array.from({ length: sundays + 1 }, (_day, at) => ({
      start_time: new Date(today - at * week).toISOString(),
      coverage: { expected: 24 * perHour, observed: 100 },
    })),
    hour_of_week: [
      {
        weekday: 'sunday',
        hour: 15,
        coverage: { expected: 12 * perHour, observed: hours * perHour },
        aqi: { mean: 62 },
      },
    ],
  }
  const asked: string[] = []
  const usual = openUsual({
    ask: async <T>(path: string) => {
      asked.push(path)
      const interval = new URLSearchParams(path.split('?')[1]).get('interval') ?? ''
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return await Promise.resolve({ statistics: steps[interval] } as T)
    },
    timezone: 'Africa/Lagos',
    nowMs: () => nowMs,
    onFailure: (error) => {
      throw error
    },
  })
  expect(await usual('/v1/areas/Lagos', 'net', nowMs)).toEqual(known)
  expect(asked).toHaveLength(2)
})

test('a time is of the network’s zone, whatever the machine’s is, also where clocks change', () => {
  expect(timeIn('America/New_York', Date.parse('2026-07-01T12:00:00Z'), en)).toBe(
    '08:00, Eastern Daylight Time',
  )
  expect(timeIn('UTC', nowMs, en)).toBe('14:05, Coordinated Universal Time')
})

const markup = '</script><script>alert(1)</script><img src=x onerror="alert(1)">\'`$&'
const rightToLeft = 'شارع ألن، إيكيجا'
const turned = '\u202eelgnis\u202c \u2067x'
const long = 'Allen Avenue '.repeat(16).slice(0, 200)
const server = { publicUrl: 'https://air.example', network: 'Lagos', locale: 'en-GB' }
const shell =
  '<!doctype html><head><meta name="description" content="x" /><title>airproof</title></head><body><div id="app"></div><noscript>old</noscript></body>'
const reading = {
  sensor_id: 'NGR-LOS-IKJ-001',
  timestamp: '2026-11-22T14:00:00.000Z',
  pm25: 34.2,
  pm10: null,
  aqi: 98,
}

type Output = {
  readonly make: (named: PlaceNow) => string
  /** A name with markup is in it as text. */
  readonly hasText: (made: string) => boolean
  /** A name of 200 characters does no harm. */
  readonly isBounded: (made: string) => boolean
  /** A name from right to left is on its own. */
  readonly isApart: (made: string) => boolean
}

const escapedMarkup = '&lt;/script&gt;&lt;script&gt;alert(1)'
const linesOf = (svg: string): readonly string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, words = '']) => words)
const isLegible = (svg: string): boolean =>
  svg.includes('…') && linesOf(svg).every((words) => words.length <= 90)
/** The font has no such letters: the id in place of nothing. */
const hasId = (svg: string): boolean =>
  svg.includes('NGR-LOS-IKJ-001') && !svg.includes(rightToLeft)
const isIsolated = (made: string): boolean => made.includes(`<bdi>${rightToLeft}</bdi>`)

const outputs: Readonly<Record<string, Output>> = {
  shell: {
    make: (named) => fillShell(shell, placeShell(named, en, html``), server),
    hasText: (made) => made.includes(escapedMarkup) && made.split('</script>').length === 2,
    isBounded: (made) => (/<title>([^<]*)/.exec(made)?.[1]?.length ?? 999) <= 130,
    isApart: isIsolated,
  },
  embed: {
    make: (named) => embedPage(named, en, server),
    hasText: (made) => made.includes(escapedMarkup),
    isBounded: (made) => made.includes(long.trim()) && made.length < 3_000,
    isApart: isIsolated,
  },
  badge: {
    make: (named) => badgeSvg(named, en),
    hasText: (made) => made.includes('&lt;/script&gt;'),
    isBounded: (made) => Number(/width="(\d+)"/.exec(made)?.[1]) < 700,
    isApart: (made) => made.includes(`\u2068${rightToLeft}\u2069`),
  },
  picture: {
    make: (named) => placeCard(named, en),
    hasText: (made) => made.includes('&lt;/script&gt;'),
    isBounded: isLegible,
    isApart: hasId,
  },
  'picture of a proof': {
    make: (named) => proofCard(reading, named, en),
    hasText: (made) => made.includes('&lt;/script&gt;'),
    isBounded: isLegible,
    isApart: hasId,
  },
  text: {
    make: (named) => placeText(named, en, server.publicUrl),
    hasText: (made) => made.startsWith(markup),
    isBounded: (made) => made.startsWith(long.trim()) && made.split('\n').length === 4,
    isApart: (made) => made.startsWith(`\u2068${rightToLeft}\u2069: 141`),
  },
}
const kinds = ['area', 'sensor'] as const
const cases = Object.keys(outputs).flatMap((output) => kinds.map((kind) => [output, kind] as const))
const made = (output: string, kind: (typeof kinds)[number], name: string): string => {
  const area = { name, slug: 'x' }
  return outputs[output]?.make(place({ kind, id: 'NGR-LOS-IKJ-001', name, area })) ?? ''
}

test.each(cases)('%s of a %s: markup in a name stays text', (output, kind) => {
  const text = made(output, kind, markup)
  expect(outputs[output]?.hasText(text)).toBe(true)
  const isMarkup = output !== 'text'
  expect(isMarkup && /<img src=x|<script>alert/.test(text)).toBe(false)
})

test.each(cases)('%s of a %s: a name of 200 characters does no harm', (output, kind) => {
  expect(long).toHaveLength(200)
  expect(outputs[output]?.isBounded(made(output, kind, long))).toBe(true)
})

test.each(cases)('%s of a %s: a name from right to left turns nothing else', (output, kind) => {
  expect(outputs[output]?.isApart(made(output, kind, rightToLeft))).toBe(true)
})

test('what turns the direction of text is taken out of plain text, badges and pictures', () => {
  for (const output of ['text', 'badge', 'picture', 'picture of a proof'])
    expect(made(output, 'area', turned)).not.toMatch(/[\u202a-\u202e\u2066\u2067]/)
})

test('the shell has title, tags and numbers of its place, and data that the page reads', () => {
  const page = fillShell(shell, placeShell(place(), en, html``), server)
  expect(page).toContain('<title>Air in Ikeja now · airproof</title>')
  expect(page).toContain('property="og:image" content="https://air.example/areas/ikeja/card.png"')
  expect(page).toContain('name="twitter:card" content="summary_large_image"')
  expect(page).toContain('property="og:url" content="https://air.example/areas/ikeja"')
  expect(page).toContain('<span class="headline-number">141</span>')
  expect(page).not.toContain('>old<')
  const titleOf = (name: string, area: string): string | undefined => {
    const sensor = { kind: 'sensor', name, area: { name: area, slug: 'a' } } as const
    const made = fillShell(shell, placeShell(place(sensor), en, html``), server)
    return /<title>(.*?)<[/]title>/.exec(made)?.[1]
  }
  expect(titleOf('1 Allen Avenue', 'Ikeja')).toBe('Air in 1 Allen Avenue, Ikeja now · airproof')
  expect(titleOf('2 Pen Street, Agege', 'Agege')).toBe('Air in 2 Pen Street, Agege now · airproof')
  const data = /<script type="application\/json" id="first">(.*?)<\/script>/.exec(page)?.[1] ?? ''
  expect(JSON.parse(data)).toEqual(place())
  expect(() => fillShell('<title>x</title>', placeShell(place(), en, html``), server)).toThrow(
    '#app',
  )
})

test('plain text is three lines', () => {
  expect(placeText(place(), en, server.publicUrl)).toBe(
    `Ikeja: 141 Unhealthy for sensitive groups (US AQI · NowCast of the last 12 hours, 2.3 × WHO guideline)
${en.city.advice.unhealthy_sensitive}
22 Nov 2026, 15:05, West Africa Time  https://air.example/areas/ikeja
`,
  )
  // a name with line ends and what a terminal would obey
  const named = placeText(place({ name: 'a\nb\u001b[31mc' }), en, server.publicUrl)
  expect(named.split('\n')).toHaveLength(4)
  expect(named).not.toContain('\u001b')
})

test('text is cut between letters as people count them, and wrapped between words', () => {
  expect(shortened('👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 2)).toBe('👩‍👩‍👧‍👦…')
  expect(shortened('abc', 3)).toBe('abc')
  expect(wrapped('one two three four', 9, 3)).toEqual(['one two', 'three', 'four'])
  expect(wrapped('x'.repeat(50), 10, 2)).toEqual(['xxxxxxxxxx', 'xxxxxxx…'])
  expect(plainName('a\u202eb')).toBe('a b')
})
