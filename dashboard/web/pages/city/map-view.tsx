import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { palette } from '../../parts/palette.ts'
import { go } from '../../router.ts'
import type { CityMap } from './city-map.ts'
import type { LiveCity } from './live-city.ts'

type MapViewProps = {
  readonly live: LiveCity
  /** The area to show; '' for the whole city. */
  readonly area: string
}

/** The map's place on the page; its code is loaded after the page. */
export function MapView({ live, area }: MapViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const opened = useRef<CityMap | undefined>(undefined)
  const fitted = useRef('')
  const wanted = useRef(area)
  wanted.current = area
  const fit = (): void => {
    const name = wanted.current
    if (opened.current === undefined || live.sensors.size === 0 || fitted.current === `~${name}`)
      return
    fitted.current = `~${name}`
    opened.current.fit(
      [...live.sensors.values()].filter(({ area }) => name === '' || area === name),
    )
  }
  useEffect(() => {
    const undo: (() => void)[] = []
    let isGone = false
    const open = async (): Promise<void> => {
      const { openCityMap } = await import('./city-map.ts')
      if (isGone || box.current === null) return
      const map = openCityMap(box.current, { pick: (id) => go(`/sensors/${id}`) })
      opened.current = map
      map.show(live.sensors.values())
      fit()
      const scheme = matchMedia('(prefers-color-scheme: dark)')
      scheme.addEventListener('change', map.recolor)
      undo.push(
        live.watch((changed) => {
          if (changed !== undefined) return map.update(changed)
          map.show(live.sensors.values())
          fit()
        }),
        effect(() => {
          if (palette.value !== undefined) map.recolor()
        }),
        () => scheme.removeEventListener('change', map.recolor),
        map.close,
      )
    }
    void open()
    return () => {
      isGone = true
      opened.current = undefined
      for (const step of undo) step()
    }
  }, [live])
  useEffect(fit, [area])
  return (
    <div
      ref={box}
      class="map"
      role="region"
      aria-label="Map of the sensors. The list says the same in words."
    />
  )
}
