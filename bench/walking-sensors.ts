import type { SensorId } from '../core/air/sensor-id.ts'
import type { ArrivedReading } from '../core/state/log-message.ts'
import { seeded } from '../test/support/chaos/seeded.ts'

/** A sensor whose values wander, as air does; what it adds itself is noise of a few tenths. */
type WalkingSensor = {
  readonly id: SensorId
  readonly area: string
  /** Its next reading, of a time that begins there. */
  readonly measure: (startMs: number, from: ArrivedReading) => ArrivedReading
}

type Options = { readonly count: number; readonly areas: number; readonly mostOffsetMs: number }

/** The same at every run. */
export function walkingSensors({ count, areas, mostOffsetMs }: Options): readonly WalkingSensor[] {
  const random = seeded(13)
  const step = (size: number): number => Math.round((random() - 0.5) * size)
  return Array.from({ length: count }, (_, at): WalkingSensor => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the registry writes them
    const id = `NGR-LOS-TST-${String(at).padStart(4, '0')}` as SensorId
    const area = `Area ${at % areas}`
    const offsetMs = Math.floor(random() * mostOffsetMs)
    let [pm25, co2, temperature, humidity] = [1_500 + step(2_000), 45_000, 2_800, 7_000]
    return {
      id,
      area,
      measure: (startMs, from) => {
        pm25 = Math.max(100, pm25 + step(300))
        co2 = Math.max(40_000, co2 + step(1_500))
        temperature += step(20)
        humidity += step(50)
        return {
          ...from,
          sensor: id,
          area,
          timeMs: startMs + offsetMs + Math.floor(random() * 200),
          values: [pm25, Math.round(pm25 * (1.5 + random() * 0.2)), co2, temperature, humidity],
          aqi: Math.round(pm25 / 30),
          flags: 0,
        }
      },
    }
  })
}
