import { useMemo } from 'preact/hooks'
import { getJson } from '../../data.ts'
import { useKept } from '../../parts/address-state.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { placeTexts } from '../../parts/texts-of-place.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { useEvery } from '../../parts/use-every.ts'
import { format } from '../../texts.ts'
import { firstOf, fromListed, type ListedSensor } from './city-sensor.ts'
import { SensorList } from './sensor-list.tsx'

const { city } = placeTexts

type Page = { readonly sensors: readonly ListedSensor[]; readonly total: number }

/** The sensors of an area, worst first; of a large area those of one page of the API. */
export function AreaSensors({ name }: { readonly name: string }) {
  const path = `/data/v1/sensors?limit=1000&area=${encodeURIComponent(name)}`
  const { value, error, again } = useAnswer((signal) => getJson<Page>(path, { signal }), [path])
  useEvery(60_000, again)
  const [shown, setShown] = useKept('rows', 60)
  const sensors = useMemo(
    () => firstOf((value?.sensors ?? []).map(fromListed), { order: 'worst', most: shown }),
    [value, shown],
  )
  return (
    <section class="card" aria-labelledby="area-sensors">
      <h2 id="area-sensors">{city.sensorsOf(name)}</h2>
      {value === undefined ? (
        error === undefined ? (
          <Loading what={city.listing} />
        ) : (
          <Failed error={error} retry={again} />
        )
      ) : (
        <>
          {value.total > value.sensors.length && (
            <p class="hint">
              {city.onlyFirst(format.number(value.sensors.length), format.number(value.total))}
            </p>
          )}
          <SensorList
            sensors={sensors}
            count={value.sensors.length}
            showMore={() => setShown(shown + 100)}
            hold={() => undefined}
          />
        </>
      )}
    </section>
  )
}
