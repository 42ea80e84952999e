/** What readers do first, in Firefox: another engine for scripts, layout and the content policy. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatIso } from '../../core/iso-time.ts'
import { minuteMs } from '../../core/time.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { builtPages } from '../support/city-browser.ts'
import { type TestDashboard, testDashboard } from '../support/dashboard.ts'
import { eventually } from '../support/eventually.ts'
import { type Firefox, firefoxMissing, openFirefox } from '../support/firefox.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sensor = 'NGR-LOS-IKJ-001'
const nowMs = Math.floor(Date.now() / 1000) * 1000
const proof = `/proof/${sensor}/${formatIso(nowMs)}`
const textOf = (selector: string): string => `document.querySelector('${selector}')?.textContent`

describe.skipIf(firefoxMissing !== undefined)(
  `in Firefox${firefoxMissing === undefined ? '' : ` (skipped: ${firefoxMissing})`}`,
  () => {
    const opened = new AsyncDisposableStack()
    let api: AnchoredApi
    let dashboard: TestDashboard
    let firefox: Firefox
    beforeAll(async () => {
      api = opened.use(await anchoredApi({ env: { AIRPROOF_OPEN_PROOFS_PER_MINUTE: '1000' } }))
      await api.register({ id: sensor })
      await api.commit(
        Array.from({ length: 12 }, (_, at) => ({
          sensor,
          timeMs: nowMs - (11 - at) * 5 * minuteMs,
          pm25: 4_000,
          pm10: 5_000,
          aqi: 112,
        })),
      )
      await api.anchored()
      dashboard = opened.use(
        await testDashboard({
          nats: api.nats,
          env: { AIRPROOF_API_URL: api.url, AIRPROOF_DASHBOARD_PAGES: await builtPages() },
        }),
      )
      await eventually('the dashboard reaches the API', async () => {
        return (await fetch(`${dashboard.url}/data/v1/sensors`)).status === 200
      })
      firefox = opened.use(await openFirefox())
    })
    afterAll(() => opened.disposeAsync())
    const go = async (path: string): Promise<void> => firefox.goTo(dashboard.url + path)
    /** Nothing sticks out of a small phone. */
    const isNarrow = async (): Promise<void> => {
      await firefox.setWidth(320)
      // charts follow a frame later
      await firefox.until('document.documentElement.scrollWidth <= innerWidth')
      await firefox.setWidth(1280)
    }

    test('the city has its headline, its list, its map, and is live', async () => {
      await go('/')
      await firefox.until(`/112/.test(${textOf('.headline-number')})`)
      await firefox.until(`document.querySelectorAll('.sensor-list li').length === 1`)
      await firefox.until(`document.querySelector('.line-state[data-state=live]')`)
      await firefox.until(`document.querySelector('.map .leaflet-marks-pane canvas')`)
      await isNarrow()
      expect(firefox.complaints).toEqual([])
    })

    test('a sensor has its charts and its readings', async () => {
      await go(`/sensors/${sensor}`)
      await firefox.until(`document.querySelectorAll('.charts .uplot canvas').length > 0`)
      await firefox.until(`document.querySelectorAll('.readings tbody tr').length === 12`)
      await isNarrow()
      expect(firefox.complaints).toEqual([])
    })

    test('a proof is checked by link and as a file, and an altered one is not valid', async () => {
      await go(proof)
      await firefox.until(`document.querySelector('.proof-paper[data-verdict=consistent]')`)
      await isNarrow()
      using folder = temporaryFolder()
      const file = join(folder.path, 'some.airproof.json')
      const own = await (await fetch(api.url + proof)).text()
      await go('/proof')
      for (const [text, verdict] of [
        [own, 'consistent'],
        [own.replace('"pm25":4000', '"pm25":4001'), 'invalid'],
      ] as const) {
        writeFileSync(file, text)
        await firefox.setFile('input[type=file]', file)
        await firefox.until(`document.querySelector('.proof-paper[data-verdict=${verdict}]')`)
      }
      expect(firefox.complaints).toEqual([])
    })

    test('the form to sign in is sent, and says what is wrong', async () => {
      await go('/login')
      await firefox.type('#email', 'nobody@example.org')
      await firefox.type('#password', 'a wrong password')
      await firefox.evaluate(`document.querySelector('main form button').click()`)
      await firefox.until(`document.querySelector('[role=alert]')`)
      await isNarrow()
      expect(firefox.complaints).toEqual([])
    })
  },
)
