/** A city other than Lagos, from `airproof init` in an empty folder to a proof. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { environment } from '../../runtime/process/config.ts'
import { openBrowser } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { signUp } from '../support/people.ts'
import { type RunningCity, runCity } from '../support/running-city.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sh = promisify(execFile)
const id = 'BER-MIT-001'
const simulated = 'BER-CEN-001'
const mitte = ['--area=Mitte', '--lat=52.5206', '--lon=13.4098', '--address=Alexanderplatz']

type Reading = { readonly timestamp: string; readonly quality: readonly string[] }

describe('Berlin', () => {
  const folder = temporaryFolder()
  let city: RunningCity
  let credential = ''
  const airproof = async (...args: readonly string[]): Promise<string> =>
    (
      await sh(process.execPath, [resolve('bin/airproof.mjs'), ...args], {
        cwd: folder.path,
        env: environment(),
      })
    ).stdout
  const ask = async <T>(path: string): Promise<T> => {
    const headers = { authorization: `Bearer ${city.instance.key}`, connection: 'close' }
    return (await (await fetch(city.instance.api + path, { headers })).json()) as T
  }
  const push = async (body: object): Promise<number> => {
    const answer = await fetch(`${city.instance.push}/push/readings`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${btoa(`${id}:${credential}`)}`,
        connection: 'close',
      },
      body: JSON.stringify(body),
    })
    await answer.text()
    return answer.status
  }
  const pages = () => openBrowser(city.instance.dashboard ?? '')

  beforeAll(async () => {
    await airproof(
      'init',
      '--network-name=Berlin',
      '--id-prefix=BER',
      '--map-box=13.0,52.3,13.8,52.7',
      '--usual-ranges=temperature=-20..40',
      '--language=fr',
    )
    city = await runCity(join(folder.path, '.airproof'), {
      flags: ['--demo', '3'],
      env: { ANCHOR_INTERVAL: '1s' },
      cwd: folder.path,
    })
    const added = await airproof('sensors', 'add', '--id', id, ...mitte, '--json')
    credential = (JSON.parse(added) as { key: string }).key
  })
  afterAll(async () => {
    await city[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  test('ids, names and simulated sensors are of the city', async () => {
    type Sensors = { sensors: { id: string; location: { lat: number; lon: number } }[] }
    const sensors = await eventually('the simulated sensors are registered', async () => {
      const { sensors: all } = await ask<Sensors>('/v1/sensors')
      return all.some((sensor) => sensor.id === simulated) ? all : undefined
    })
    expect(sensors.map((sensor) => sensor.id)).toContain(id)
    for (const { id: name, location } of sensors) {
      expect(name).toMatch(/^BER-[A-Z]{3}-\d{3}$/)
      expect(location.lat).toBeGreaterThan(52.3)
      expect(location.lat).toBeLessThan(52.7)
    }
    expect(await ask('/v1/areas')).toMatchObject({ network: { name: 'Berlin', code: 'BER' } })
    expect(await ask('/.well-known/airproof.json')).toMatchObject({ name: 'Berlin' })
    await expect(airproof('sensors', 'add', '--id', 'NGR-LOS-IKJ-001', ...mitte)).rejects.toThrow(
      'BER-{AREA}-{NUMBER}',
    )
    const document = JSON.stringify(await ask('/v1/openapi.json'))
    expect(document).toContain('BER-IKJ-017')
    expect(document).not.toContain('NGR-LOS')
  })

  test('a cold day is usual there and a hot one is not; both are proven', async () => {
    const nowMs = Date.now()
    const timeOf = (ms: number): string => new Date(ms).toISOString()
    const [cold, hot] = [timeOf(nowMs - 60_000), timeOf(nowMs)]
    expect(await push({ timestamp: cold, pm25: 12, temperature: -8 })).toBeLessThan(300)
    expect(await push({ timestamp: hot, pm25: 12, temperature: 45 })).toBeLessThan(300)
    const flagsAt = await eventually('both are served', async () => {
      const { readings } = await ask<{ readings: Reading[] }>(`/v1/readings?sensor_id=${id}`)
      const flags = new Map(readings.map((reading) => [reading.timestamp, reading.quality]))
      return flags.has(cold) && flags.has(hot) ? flags : undefined
    })
    expect(flagsAt.get(cold)).not.toContain('temperature_unusual')
    expect(flagsAt.get(hot)).toContain('temperature_unusual')
    const verify = `/v1/readings/${id}/verify?timestamp=${encodeURIComponent(hot)}`
    await eventually(
      'it is proven',
      async () => (await ask<{ status: string }>(verify)).status === 'verified',
      { everyMs: 250 },
    )
    // every flag follows from the values, or is in the anchored leaf
    await airproof('audit', '--deep')
  })

  test('days and pages are those of Berlin', async () => {
    const { readings } = await ask<{ readings: Reading[] }>(`/v1/readings?sensor_id=${id}&limit=1`)
    const instant = Temporal.Instant.from(readings[0]?.timestamp ?? '')
    const midnight = instant.toZonedDateTimeISO('Europe/Berlin').startOfDay()
    const end = midnight.add({ days: 1 }).toInstant().toString()
    const period = `start_time=${midnight.toInstant().toString()}&end_time=${end}`
    const path = `/v1/sensors/${id}/statistics?interval=day&timezone=Europe/Berlin&${period}`
    type Days = { statistics: readonly { start_time: string; end_time: string }[] }
    const { statistics } = await ask<Days>(path)
    expect(statistics.map((day) => Date.parse(day.start_time))).toEqual([
      midnight.epochMilliseconds,
    ])
    const config = JSON.parse((await pages().get('/config.json')).text) as object
    expect(config).toMatchObject({
      network: 'Berlin',
      idPrefix: 'BER',
      timezone: 'Europe/Berlin',
      box: [13, 52.3, 13.8, 52.7],
    })
    // the ground that we ship is of Lagos
    expect(config).not.toHaveProperty('map')
    const area = await eventually('the area has readings', async () => {
      const { text } = await pages().get('/areas/mitte')
      return text.includes('Mitte') && !text.includes('NGR-LOS') ? text : undefined
    })
    expect(area).toMatch(/<html lang="fr"/)
  })

  test('an email is in the language of the network, unless its reader asks for another', async () => {
    const mails = (): readonly string[] => {
      const place = join(folder.path, '.airproof', 'mail')
      return readdirSync(place).map((name) => readFileSync(join(place, name), 'utf8'))
    }
    const mailTo = (email: string) =>
      eventually(`the email to ${email}`, () => mails().find((mail) => mail.includes(email)))
    await signUp(pages(), { email: 'berta@example.org' })
    expect(await mailTo('berta@example.org')).toContain('Confirmez votre compte')
    const english = openBrowser(city.instance.dashboard ?? '', { 'accept-language': 'en' })
    await signUp(english, { email: 'emil@example.org' })
    expect(await mailTo('emil@example.org')).toContain('Confirm your account')
  })
})
