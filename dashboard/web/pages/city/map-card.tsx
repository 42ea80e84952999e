/** The map with all that belongs to it. */
import { useEffect } from 'preact/hooks'
import { Legend, ScaleBar } from '../../parts/air/legend.tsx'
import { texts } from '../../texts.ts'
import type { LiveCity } from './live-city.ts'
import { MapSwitch } from './map-switch.tsx'
import { MapView } from './map-view.tsx'
import { shownNow, useChoice, useShown } from './shown.ts'

type MapCardProps = {
  readonly live: LiveCity
  /** The area to show; '' for the whole city. */
  readonly area: string
}

export function MapCard({ live, area }: MapCardProps) {
  const [choice, choose] = useChoice()
  const shown = useShown(live, choice)
  useEffect(() => {
    shownNow.value = shown
  }, [shown])
  return (
    <>
      <div class="map-area">
        <MapView live={live} area={area} shown={shown} />
        <MapSwitch choice={shown} choose={choose} />
      </div>
      <details class="map-key">
        <summary>
          <span class="map-key-name">{texts.map.legend}</span>
          <ScaleBar scale={shown.scale} />
        </summary>
        <Legend scale={shown.scale} />
      </details>
    </>
  )
}
