import type { Pollutant } from '../../../../core/air/index/air-index.ts'
import type { UsCategory } from '../../../../core/air/index/us-bands.ts'
import { getJson } from '../../data.ts'
import { Amount } from '../../parts/amount.tsx'
import { Aqi } from '../../parts/aqi.tsx'
import { Chart } from '../../parts/chart.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { useEvery } from '../../parts/use-every.ts'
import { zonesOf } from '../../parts/zones.ts'
import { bandOf, type Series } from './area-band.ts'

type Measured = { readonly avg: number | null; readonly unit: string }
type Area = {
  readonly area: { readonly name: string }
  readonly sensors: { readonly total: number; readonly online: number }
  readonly aqi: {
    readonly average: number | null
    readonly min: number | null
    readonly max: number | null
    readonly category: UsCategory | null
    readonly nowcast: number | null
  }
  readonly measurements: Readonly<Record<Pollutant, Measured>>
  readonly coverage: { readonly percent: number | null }
  readonly worst_sensor: { readonly sensor_id: string; readonly aqi: number } | null
  readonly period: { readonly start_time: string; readonly end_time: string }
  readonly series: Series
}

/** The last 24 hours of an area. @param name of the area, or of the whole network */
export function AreaCard({ name }: { readonly name: string }) {
  const path = `/data/v1/areas/${encodeURIComponent(name)}?interval=hour`
  const answer = useAnswer((signal) => getJson<Area>(path, { signal }), [path])
  useEvery(60_000, answer.again)
  const { value: area, error, again } = answer
  return (
    <section class="card area" aria-labelledby="area">
      <h2 id="area">{name}, the last 24 hours</h2>
      {area === undefined ? (
        error === undefined ? (
          <Loading />
        ) : (
          <Failed error={error} retry={again} />
        )
      ) : (
        <Day area={area} />
      )}
    </section>
  )
}

function Day({ area }: { readonly area: Area }) {
  const { aqi, measurements, coverage, worst_sensor: worst, sensors, period } = area
  const band = bandOf(area.series, period)
  if (aqi.average === null) {
    return <p class="muted">No reading with particulate matter came in during this time.</p>
  }
  return (
    <>
      <div class="tiles">
        <Tile name="Average index">
          <Aqi aqi={Math.round(aqi.average)} words />
        </Tile>
        <Tile name="Lowest to highest">
          <span class="number">
            {aqi.min} – {aqi.max}
          </span>
        </Tile>
        <Tile name="NowCast">
          {aqi.nowcast === null ? (
            <span class="muted">too few hours</span>
          ) : (
            <Aqi aqi={aqi.nowcast} />
          )}
        </Tile>
        <Tile name="PM2.5, average">
          <Amount value={measurements.pm25.avg} unit={measurements.pm25.unit} digits={1} />
        </Tile>
        <Tile name="PM10, average">
          <Amount value={measurements.pm10.avg} unit={measurements.pm10.unit} digits={1} />
        </Tile>
        <Tile name="Sensors online">
          <span class="number">
            {sensors.online} of {sensors.total}
          </span>
        </Tile>
      </div>
      <Chart
        label={`Air quality index of each hour: mean, lowest and highest. Over the day it lay between ${aqi.min} and ${aqi.max}, ${aqi.average} on average.`}
        {...band}
        unit=""
        zones={zonesOf('aqi')}
        height={200}
        isSparse
      />
      <p class="hint">
        Mean of each hour, and the lowest and highest reading round it.{' '}
        {coverage.percent !== null && `${coverage.percent} % of the expected readings came in. `}
        {worst !== null && (
          <>
            Highest now: <a href={`/sensors/${worst.sensor_id}`}>{worst.sensor_id}</a> ({worst.aqi}
            ).
          </>
        )}
      </p>
    </>
  )
}

type TileProps = { readonly name: string; readonly children: preact.ComponentChildren }

const Tile = ({ name, children }: TileProps) => (
  <div class="tile">
    <span class="hint">{name}</span>
    <span class="big">{children}</span>
  </div>
)
