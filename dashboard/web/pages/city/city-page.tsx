import { useEffect, useMemo, useRef } from 'preact/hooks'
import { getJson } from '../../data.ts'
import { Select } from '../../forms/select.tsx'
import { config, me } from '../../me.ts'
import { useAddress, useKept } from '../../parts/address-state.ts'
import { Headline, HeadlineAway } from '../../parts/air/headline.tsx'
import { Copy } from '../../parts/copy.tsx'
import { addCommand } from '../../parts/example-sensor.ts'
import { Later } from '../../parts/later.tsx'
import { Share } from '../../parts/share.tsx'
import { Snippets } from '../../parts/snippets.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { placeTexts } from '../../parts/texts-of-place.ts'
import { useTitle } from '../../parts/title.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { usePlace } from '../../parts/use-place.ts'
import { useSeen } from '../../parts/use-seen.ts'
import { texts } from '../../texts.ts'
import './city.css'
import { firstOf, matching, type Order, orders } from './city-sensor.ts'
import { LineState } from './line-state.tsx'
import { type LiveCity, openLiveCity } from './live-city.ts'
import { MapCard } from './map-card.tsx'
import { Search } from './search.tsx'
import { SensorList } from './sensor-list.tsx'
import { shownNow } from './shown.ts'
import { useFewTimesASecond } from './use-few-times.ts'

type Areas = {
  readonly network: { readonly name: string }
  readonly areas: readonly { readonly name: string; readonly slug: string }[]
}

const { city } = placeTexts

/** The city now: the answer first, then map and list, and how the last day was. */
export function CityPage() {
  const live = useMemo(openLiveCity, [])
  useEffect(() => live.close, [live])
  const listed = live.listed.value
  // loaded again when the sensors arrive late: the same fault delayed both
  const areas = useAnswer(
    (signal) => getJson<Areas>('/data/v1/areas', { signal }),
    [listed instanceof Error],
  ).value
  const [slug, setSlug] = useAddress('area')
  const area = areas?.areas.find((known) => known.slug === slug)?.name ?? ''
  const isArea = slug !== '' && (areas === undefined || area !== '')
  const { place, error } = usePlace(isArea ? { kind: 'area', id: slug } : { kind: 'city', id: '' })
  useTitle(place && city.title(place.name))
  if (listed === 'all' && live.sensors.size === 0) return <NoSensors />
  return (
    <div class="city">
      <div class="city-head">
        {place === undefined ? (
          <HeadlineAway
            title={config.value.network ?? texts.common.tabs.city}
            isFailed={error !== undefined}
          />
        ) : (
          <Headline place={place}>
            <div class="headline-tools">
              {area !== '' && (
                <a href={`/areas/${encodeURIComponent(slug)}`}>{city.seeArea(area)}</a>
              )}
              <Share place={place} />
            </div>
          </Headline>
        )}
      </div>
      <div class="city-map card">
        <MapCard live={live} area={area} />
        <LineState
          line={live.line.value}
          newestMs={live.newestMs}
          silentSince={(place?.kind === 'city' && place.silence?.at) || undefined}
        />
      </div>
      <Beside live={live} areas={areas} area={area} slug={slug} setSlug={setSlug} />
      {areas !== undefined && <AreaBelow name={area || areas.network.name} />}
    </div>
  )
}

type BesideProps = {
  readonly live: LiveCity
  readonly areas: Areas | undefined
  readonly area: string
  readonly slug: string
  readonly setSlug: (slug: string, options: { readonly push: boolean }) => void
}

function Beside({ live, areas, area, slug, setSlug }: BesideProps) {
  const turn = useFewTimesASecond(live)
  const listed = live.listed.value
  const [search] = useAddress('search')
  const [orderName, setOrder] = useAddress('order', 'worst')
  const order = orderOf(orderName)
  const [shown, setShown] = useKept('rows', 60)
  const isHeld = useRef(false)
  const onShow = shownNow.value
  const filter = `${search}|${area}|${order}`
  const held = useRef<{ filter: string; ids: readonly string[] } | undefined>(undefined)
  const { sensors, count, offline, neverSent } = useMemo(() => {
    const all = matching(live.sensors.values(), { search, area })
    const first = firstOf(all, { order, valueFor: onShow?.valueFor, most: shown })
    const ids = isHeld.current && held.current?.filter === filter ? held.current.ids : []
    const stay = ids.map((id) => live.sensors.get(id)).filter((one) => one !== undefined)
    const known = new Set(stay)
    const chosen = [...stay, ...first.filter((one) => !known.has(one))].slice(0, shown)
    held.current = { filter, ids: chosen.map(({ id }) => id) }
    const silent = all.filter(({ isOnline }) => !isOnline)
    const neverSent = silent.filter(({ lastMs }) => lastMs === null).length
    return { sensors: chosen, count: all.length, offline: silent.length - neverSent, neverSent }
  }, [turn, filter, onShow, shown])
  return (
    <section class="city-list card" aria-labelledby="sensors">
      <h2 id="sensors">
        {city.sensors} <Count count={count} offline={offline} neverSent={neverSent} />
      </h2>
      <div class="city-filters">
        <Search />
        <Select
          isLabelHidden
          label={city.area}
          value={slug}
          choices={[
            ['', areas === undefined ? city.allAreas : city.allOf(areas.network.name)],
            ...(areas?.areas ?? []).map(({ name, slug }) => [slug, name] as const),
          ]}
          onValue={(chosen) => setSlug(chosen, { push: true })}
        />
        <Select
          isLabelHidden
          label={city.order}
          value={order}
          choices={Object.entries(orders)}
          onValue={(name) => setOrder(name, { push: true })}
        />
      </div>
      {listed instanceof Error ? (
        <Failed error={listed} retry={live.again} />
      ) : listed === 'nothing' ? (
        <Loading what={city.listing} />
      ) : sensors.length === 0 ? (
        <Empty title={city.noneFits}>
          <p>{city.noneFitsHint}</p>
        </Empty>
      ) : (
        <SensorList
          sensors={sensors}
          count={count}
          showMore={() => setShown(shown + 100)}
          hold={(is) => (isHeld.current = is)}
        />
      )}
    </section>
  )
}

const orderOf = (name: string): Order =>
  name === 'best' || name === 'id' || name === 'silent' ? name : 'worst'

type CountProps = {
  readonly count: number
  readonly offline: number
  readonly neverSent: number
}

function Count({ count, offline, neverSent }: CountProps) {
  const words = placeTexts.format.number
  return (
    <span class="hint" role="status">
      {words(count)}
      {offline > 0 && city.offlineCount(words(offline))}
      {neverSent > 0 && city.neverSentCount(words(neverSent))}
    </span>
  )
}

/** The first steps of a new network. */
const NoSensors = () => (
  <Empty title={city.noSensors} isPage>
    <p>{city.noSensorsHint}</p>
    <pre tabIndex={0} aria-label={city.noSensorsCommand}>
      <code>{addCommand.value}</code>
    </pre>
    <Copy text={addCommand.value} />
    <p>
      {city.orSimulate} <code>npx airproof simulate --sensors 40</code>
    </p>
    {me.value && config.value.api !== '' && (
      <>
        <h2>{city.askApi}</h2>
        <Snippets path="/v1/sensors?limit=5" />
      </>
    )}
  </Empty>
)

/** The history of an area below the map. It, and the code that draws it, is loaded when it is scrolled to. */
function AreaBelow({ name }: { readonly name: string }) {
  const [ref, isSeen] = useSeen<HTMLDivElement>()
  return (
    <div ref={ref} class="city-area">
      <Later isWanted={isSeen} load={async () => await import('../../charts/area-history.tsx')}>
        {({ AreaHistory }) => <AreaHistory name={name} />}
      </Later>
    </div>
  )
}
