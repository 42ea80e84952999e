import type { SensorId } from '../../core/air/sensor-id.ts'
import { formatIso } from '../../core/iso-time.ts'
import { mergeSites } from '../../operate/sensor-registry.ts'
import { MustAct } from '../../runtime/exit.ts'
import type { SensorEntry, Site } from '../../schemas/devices/sensor.ts'
import type { Survey, SurveyedSensor } from '../replay/survey.ts'
import { isSamePlace } from '../replay/survey.ts'

export type SurveyEntryOptions = {
  readonly area: string
  readonly cadenceSeconds: number
  readonly nowMs: number
}

/**
 * One registry entry per sensor of the archive, with a site for each place where it was.
 * @throws MustAct for an archive that does not state where its sensors are
 */
export const sensorsFromSurvey = (survey: Survey, options: SurveyEntryOptions): SensorEntry[] =>
  [...survey.sensors].map(([id, sensor]) => ({
    id,
    cadence_seconds: options.cadenceSeconds,
    sites: sitesOf(id, sensor, options.area),
    created_at: formatIso(options.nowMs),
  }))

function sitesOf(id: SensorId, { stays }: SurveyedSensor, area: string): Site[] {
  if (stays.length === 0)
    throw new MustAct(
      `the archive does not say where ${id} stands: add it with \`airproof sensors add\`, or import a CSV`,
    )
  const inOrder = stays.toSorted((a, b) => a.fromMs - b.fromMs)
  const moves = inOrder.filter((stay, index) => {
    const before = inOrder[index - 1]
    return before === undefined || !isSamePlace(before.place, stay.place)
  })
  return mergeSites(
    moves.map(({ fromMs, place: { lat, lon, location } }) => ({
      from: formatIso(fromMs),
      area,
      lat,
      lon,
      address: location === '' ? '' : `location ${location}`,
    })),
  )
}
