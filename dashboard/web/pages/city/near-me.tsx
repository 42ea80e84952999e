import { useState } from 'preact/hooks'
import type { CityMap } from '../../map/city-map.ts'
import { setAddress } from '../../parts/address-state.ts'
import { texts } from '../../texts.ts'
import type { CitySensor } from './city-sensor.ts'
import type { LiveCity } from './live-city.ts'

const words = texts.map

type NearMeProps = { readonly live: LiveCity; readonly map: CityMap<CitySensor> }

/** Farther than this from every sensor, the network says nothing about a place. */
const farKm = 100

/** The browser asks the reader first; the place is sent nowhere. */
export function NearMe({ live, map }: NearMeProps) {
  const [said, setSaid] = useState('')
  const find = (): void => {
    setSaid(words.locating)
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        const here = { lat: coords.latitude, lon: coords.longitude }
        const nearest = nearestTo(here, live)
        if (nearest === undefined || nearest.km > farKm) return setSaid(words.notLocated.far)
        setSaid('')
        map.here(here)
        setAddress({ sensor: nearest.sensor.id }, { push: true })
      },
      ({ code, PERMISSION_DENIED }) =>
        setSaid(words.notLocated[code === PERMISSION_DENIED ? 'denied' : 'away']),
      { timeout: 10_000 },
    )
  }
  return (
    <div class="map-near">
      <button type="button" onClick={find}>
        {words.nearMe}
      </button>
      <span role="status">{said}</span>
    </div>
  )
}

function nearestTo(here: { readonly lat: number; readonly lon: number }, live: LiveCity) {
  let nearest: { readonly sensor: CitySensor; readonly km: number } | undefined
  const perDegree = 111.2
  const narrow = Math.cos((here.lat * Math.PI) / 180)
  for (const sensor of live.sensors.values()) {
    if (!sensor.isOnline) continue
    const km = perDegree * Math.hypot(sensor.lat - here.lat, (sensor.lon - here.lon) * narrow)
    if (nearest === undefined || km < nearest.km) nearest = { sensor, km }
  }
  return nearest
}
