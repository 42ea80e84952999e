/** The notebook of a data scientist's afternoon, as a newcomer runs it: against an API with an archive that needs no key. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { archiveOnce } from '../../archive/archive-once.ts'
import { dayMs, hourMs } from '../../core/time.ts'
import { onPath, runTool } from '../../runtime/engines/tools.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { type AnchoredApi, anchoredApi } from '../support/anchored-api.ts'
import { siteOf } from '../support/api.ts'
import { pythonPackage } from '../support/python-package.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { env } = process
const timeoutMs = 300_000
const sensors = [
  { id: 'NGR-LOS-IKJ-001', area: 'Ikeja' },
  { id: 'NGR-LOS-IKJ-002', area: 'Ikeja' },
  { id: 'NGR-LOS-YAB-003', area: 'Yaba' },
]
/** 00:00 in Lagos. */
const startMs = Date.UTC(2024, 5, 1) - hourMs
const dayCount = 4

/** µg/m³ of a sensor's local day: Ikeja is over WHO on the first two, Yaba on the third. */
const pm25Of = (area: string, day: number): number => {
  if (area === 'Yaba') return day === 2 ? 90 : 5
  return day < 2 ? 30 : 10
}

let api: AnchoredApi
const opened = new AsyncDisposableStack()
const folder = opened.use(temporaryFolder())

beforeAll(async () => {
  const archive = join(folder.path, 'archive')
  api = opened.use(
    await anchoredApi({ env: { AIRPROOF_ARCHIVE_DIR: archive, AIRPROOF_ARCHIVE_OPEN: '1' } }),
  )
  for (const { id, area } of sensors)
    await api.register({ id, cadence_seconds: 3_600, sites: [siteOf(area)] })
  const hours = Array.from({ length: 24 * dayCount }, (_, hour) => hour)
  await api.commit(
    hours
      // half of the last day is missing: it does not count
      .filter((hour) => hour < 24 * dayCount - 12)
      .flatMap((hour) =>
        sensors.map(({ id, area }, at) => ({
          sensor: id,
          area,
          timeMs: startMs + hour * hourMs + at,
          pm25: 100 * pm25Of(area, Math.floor(hour / 24)) + (hour === 60 && at === 2 ? 1 : 0),
        })),
      ),
  )
  await api.anchored()
  await archiveOnce({
    nc: api.nc,
    store: api.store,
    settings: {
      folder: archive,
      withHashes: false,
      about: { title: 'Test', publisher: 'Test', licence: 'CC-BY-4.0' },
    },
    keccak: await createKeccak(),
    nowMs: Date.now() + dayMs,
    isPart: false,
    stop: new AbortController().signal,
  })
  await api.commit([{ sensor: sensors[0]!.id, timeMs: Date.now() - hourMs }])
}, timeoutMs)
afterAll(() => opened.disposeAsync())

const expression = `json.dumps({
  "rows": len(frame), "over": over["days_over"].to_dict(), "days": over["days"].to_dict(),
  "true": [worst["sensor_id"], worst["pm25"], len(proof.checks) > 5],
  "since": len(since), "newest": [reading["sensor_id"] for reading in newest],
})`

test('the notebook answers the four questions of an afternoon', { timeout: timeoutMs }, async ({
  skip,
}) => {
  const python = onPath('python3', env) ?? skip('Python is not on this machine')
  const folders: string[] = []
  for (const one of [
    { name: 'pandas', version: '3.1.1', withNeeded: true },
    { name: 'pyarrow', version: '26.0.1' },
    { name: 'httpx', version: '0.28.1', withNeeded: true },
    { name: 'nbclient', version: '0.11.0', withNeeded: true },
    { name: 'ipykernel', version: '7.4.0', withNeeded: true },
  ]) {
    const found = await pythonPackage(one, env)
    if ('missing' in found) return skip(found.missing)
    folders.push(found.folder)
  }
  const kernels = join(folders.at(-1)!, 'share/jupyter')
  folders.push(fileURLToPath(new URL('../../clients/python/src', import.meta.url)))
  const run = (more: Readonly<Record<string, string>>) =>
    runTool(
      python,
      ['test/support/clients/run_notebook.py', 'examples/notebook/afternoon.ipynb', expression],
      {
        env: {
          ...env,
          PYTHONPATH: folders.join(':'),
          PYTHONDONTWRITEBYTECODE: '1',
          JUPYTER_PATH: kernels,
          IPYTHONDIR: folder.path,
          HOME: folder.path,
          AIRPROOF_URL: api.url,
          ...more,
        },
        timeoutMs,
      },
    ).then((printed): unknown => JSON.parse(printed))
  const withoutKey = {
    rows: sensors.length * (24 * dayCount - 12),
    over: { Ikeja: 2, Yaba: 1 },
    days: { Ikeja: 3, Yaba: 3 },
    true: [sensors[2]!.id, 90.01, true],
    since: 0,
    newest: [],
  }
  expect(await run({})).toEqual(withoutKey)
  expect(await run({ AIRPROOF_KEY: api.key })).toEqual({ ...withoutKey, newest: [sensors[0]!.id] })
})
