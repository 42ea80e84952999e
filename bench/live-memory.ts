/**
 * The memory of a city's page that is left open: `node bench/live-memory.ts [--sensors 40]
 * [--minutes 60]` prints one JSON document. The news of an hour of a live city (a reading of each sensor
 * every ten seconds) comes as fast as the page shows it.
 *
 * - `heapMb`: after a forced collection, at the start and after each sixth of the time;
 *   `mbAnHour`: the slope of its second half; `nodes`: elements of the page, at the start and end.
 */
import { parseArgs } from 'node:util'
import { siteOf, testApi } from '../test/support/api.ts'
import { playNews } from '../test/support/live-news.ts'
import { openPages } from './open-pages.ts'

const { values: flags } = parseArgs({
  options: {
    sensors: { type: 'string', default: '40' },
    minutes: { type: 'string', default: '60' },
  },
})
const sensors = Number(flags.sensors)
const minutes = Number(flags.minutes)

await using opened = new AsyncDisposableStack()
const api = opened.use(await testApi())
const ids = Array.from({ length: sensors }, (_, at) => `NGR-LOS-IKJ-${String(at).padStart(4, '0')}`)
for (const [at, id] of ids.entries())
  await api.register({ id, sites: [siteOf('Ikeja', 6.45 + (at % 40) / 150, 3.2 + at / 2_000)] })
const { dashboard, browser } = await openPages(api, opened)
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
const heard = await playNews({ api, page, ids, url: dashboard.url })
const heap: number[] = []
await heard.turns(6)
const nodesBefore = await heard.nodes()
heap.push(await heard.heapMb())
for (let part = 0; part < 6; part++) {
  // six a minute, and a sixth of the time
  await heard.turns(minutes)
  heap.push(await heard.heapMb())
}
const [half = Number.NaN, end = Number.NaN] = [heap[3], heap[6]]
const round = (value: number): number => Math.round(value * 100) / 100
process.stdout.write(
  `${JSON.stringify({
    sensors,
    minutes,
    readings: heard.readings(),
    heapMb: heap.map(round),
    mbAnHour: round(((end - half) / (minutes / 2)) * 60),
    nodes: [nodesBefore, await heard.nodes()],
  })}\n`,
)
