import { effect } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Box } from '../../../../core/map-box.ts'
import type { CityMap } from '../../map/city-map.ts'
import type { Said } from '../../map/draw-marks.ts'
import { config } from '../../me.ts'
import { addressValue, setAddress, viewportOf, viewportText } from '../../parts/address-state.ts'
import { palette } from '../../parts/air/palette.ts'
import { NotLoaded } from '../../parts/states.tsx'
import { format, texts } from '../../texts.ts'
import type { CitySensor } from './city-sensor.ts'
import { matching } from './city-sensor.ts'
import type { LiveCity } from './live-city.ts'
import './map.css'
import { NearMe } from './near-me.tsx'
import { pointed } from './pointed.ts'
import { Preview } from './preview.tsx'
import type { Shown } from './shown.ts'

const words = texts.map

type MapViewProps = {
  readonly live: LiveCity
  /** The area to show; '' for the whole city. */
  readonly area: string
  readonly shown: Shown
}

/** Until the server has said where the network is. */
const wholeEarth: Box = [-180, -60, 180, 75]

type Told = { readonly text: string; readonly x: number; readonly y: number }

/** The map's place on the page; its code is loaded after the page. */
export function MapView({ live, area, shown }: MapViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<CityMap<CitySensor>>()
  const [hint, setHint] = useState<'wheel' | 'touch'>()
  const [told, setTold] = useState<Told>()
  const [fault, setFault] = useState(false)
  const [, redraw] = useState({})
  const textOf = useMemo(
    () => (value: number) => format.number(value, shown.scale.digits),
    [shown.scale.digits],
  )
  const now = useRef({ shown, textOf })
  now.current = { shown, textOf }
  useEffect(() => {
    const undo: (() => void)[] = []
    let isGone = false
    const open = async (): Promise<void> => {
      const { openCityMap } = await import('../../map/city-map.ts')
      if (isGone || box.current === null) return
      const made = openCityMap<CitySensor>(box.current, {
        config: config.value.map,
        box: config.value.box ?? wholeEarth,
        shows: { ...now.current.shown, textOf: now.current.textOf },
        viewport: viewportOf(addressValue('at')),
        words,
        hint: setHint,
        pick: (sensor) => setAddress({ sensor: sensor?.id }, { push: sensor !== undefined }),
        pointed: (id) => (pointed.value = id),
        moved: (viewport) => setAddress({ at: viewportText(viewport) }),
        tell: (said, sensor, at) =>
          setTold(at && { text: lineOf(said, sensor, now.current), x: at.x, y: at.y }),
      })
      const news = new Map<string, CitySensor>()
      let timer: ReturnType<typeof setTimeout> | undefined
      let tookMs = 0
      const change = (): void => {
        timer = undefined
        const begunMs = performance.now()
        made.change([...news.values()])
        news.clear()
        tookMs = performance.now() - begunMs
      }
      undo.push(
        live.watch((changed) => {
          // the preview is of the selected one as it is now, also where it moved
          if (changed?.some(({ id }) => id === addressValue('sensor')) !== false) redraw({})
          if (changed === undefined) return made.load([...live.sensors.values()])
          for (const sensor of changed) news.set(sensor.id, sensor)
          timer ??= setTimeout(change, Math.max(newsEveryMs, 9 * tookMs))
        }),
        effect(() => made.point(pointed.value ?? addressValue('sensor'))),
        () => clearTimeout(timer),
        made.close,
      )
      made.load([...live.sensors.values()])
      setMap(made)
    }
    open().catch((error: unknown) => {
      setFault(true)
      reportError(error)
    })
    return () => {
      isGone = true
      for (const step of undo) step()
    }
  }, [live])
  useEffect(() => map?.look({ ...shown, textOf }), [map, shown, textOf, palette.value])
  useFit({ map, live, area })
  const selected = live.sensors.get(addressValue('sensor'))
  return (
    <>
      <div ref={box} class="map" role="region" aria-label={words.label} />
      {told !== undefined && <Tip {...told} />}
      {hint !== undefined && (
        <p class="map-hint" aria-hidden="true">
          {words[hint]}
        </p>
      )}
      {fault && (
        <div class="map-fault">
          <NotLoaded />
        </div>
      )}
      {map !== undefined && <NearMe live={live} map={map} />}
      {selected !== undefined && (
        <Preview sensor={selected} shown={shown} close={() => setAddress({ sensor: undefined })} />
      )}
    </>
  )
}

/** Marks of very many sensors are counted again then: for a tenth of the time at most. */
const newsEveryMs = 250

type Fit = {
  readonly map: CityMap<CitySensor> | undefined
  readonly live: LiveCity
  readonly area: string
}

/** The view follows the address, then the search and the area. */
function useFit({ map, live, area }: Fit): void {
  const search = addressValue('search')
  const at = addressValue('at')
  const fitted = useRef<string | undefined>(undefined)
  const listed = live.listed.value
  const isListed = listed === 'part' || listed === 'all'
  useEffect(() => {
    if (map === undefined || !isListed) return
    const wanted = `${area}|${search}`
    const isFirst = fitted.current === undefined || fitted.current === `part|${wanted}`
    if (fitted.current === wanted) return
    const done = (): void => {
      fitted.current = listed === 'all' ? wanted : `part|${wanted}`
    }
    // the reader's own view stays
    if (isFirst && viewportOf(at) !== undefined) return done()
    // the rest of the list may arrive meanwhile, and this begins again
    const timer = setTimeout(
      () => {
        done()
        map.fit(matching(live.sensors.values(), { search, area }))
      },
      isFirst ? 0 : 300,
    )
    return () => clearTimeout(timer)
  }, [map, listed, area, search])
}

type Now = { readonly shown: Shown; readonly textOf: (value: number) => string }

function lineOf(said: Said, sensor: CitySensor | undefined, { shown, textOf }: Now): string {
  const valueFor = (value: number): string => `${textOf(value)} ${shown.scale.unit}`.trim()
  if (said.kind === 'many') {
    const count = format.count(said.count, words.several)
    return said.value === null ? count : `${count}, ${words.meanOf(valueFor(said.value))}`
  }
  const name = [sensor?.address, sensor?.id].filter(Boolean).join(' · ')
  if (said.kind === 'offline') return `${name}: ${words.offline}`
  return `${name}: ${said.value === null ? words.noValue : valueFor(said.value)}`
}

/** Names what is under the pointer; the list says the same to everyone. */
function Tip({ text, x, y }: Told) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const tip = box.current
    const width = tip?.parentElement?.clientWidth ?? 0
    if (tip === null) return
    const half = tip.offsetWidth / 2
    const left = Math.min(Math.max(x, half + 4), width - half - 4)
    const isAbove = y > tip.offsetHeight + 32
    tip.style.transform = `translate(${Math.round(left - half)}px, ${Math.round(isAbove ? y - tip.offsetHeight - 26 : y + 26)}px)`
  }, [text, x, y])
  return (
    <div ref={box} class="map-tip" dir="auto">
      {text}
    </div>
  )
}
