import { wholeNetwork } from '../../core/air/area.ts'
import { dayMs, floorTo, hourMs } from '../../core/time.ts'
import { statRules } from '../../store/stat-fields.ts'
import type { TestApi } from './api.ts'

/** Does what the statistics job does, up to the hour that runs. */
export async function writeHours(
  { store, system, lastSeq }: TestApi,
  fromMs: number,
  nowMs: number,
): Promise<void> {
  const hourNow = floorTo(nowMs, hourMs)
  const dayNow = floorTo(nowMs, dayMs)
  const { sensors, areas } = await store.names()
  for (const area of [wholeNetwork, ...areas.filter((name) => name !== wholeNetwork)]) {
    await store.writeAreaHours(await store.computeBuckets(area, fromMs, hourNow, 'hour'))
    await store.writeAreaDays(await store.computeBuckets(area, fromMs, dayNow, 'day'))
  }
  await store.writeSensorHours(await store.computeSensors(sensors, fromMs, hourNow, 'hour'))
  await store.writeSensorDays(await store.computeSensors(sensors, fromMs, dayNow, 'day'))
  const made = { sensorsFromMs: 0, rules: statRules }
  await system.put(
    'rollup',
    JSON.stringify({ position: lastSeq(), dirty: [], dirtyDays: [], ...made }),
  )
}
