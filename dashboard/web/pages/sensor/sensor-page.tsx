import { quantityNames, units } from '../../../../core/air/quantities.ts'
import { config } from '../../me.ts'
import type { PageProps } from '../../page.ts'
import { Amount } from '../../parts/amount.tsx'
import { Aqi } from '../../parts/aqi.tsx'
import { CopyProofLink } from '../../parts/proof-link.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { duration } from '../../parts/times.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { useEvery } from '../../parts/use-every.ts'
import { When } from '../../parts/when.tsx'
import { HistoryCard } from './history-card.tsx'
import { ReadingsCard } from './readings-card.tsx'
import './sensor.css'
import { getSensor, type Reading, type SensorNow } from './sensor-data.ts'
import { longWords, pollutantWords, wordsOfFlag } from './words.ts'

/** One sensor: now, over a day or a week, and each reading with its proof. */
export function SensorPage({ params }: PageProps) {
  const id = params['id'] ?? ''
  const answer = useAnswer(async (signal) => getSensor({ id, signal }), [id])
  useEvery(20_000, answer.again)
  const { value: sensor, error, again } = answer
  if (sensor === undefined) {
    return (
      <>
        <h1>{id}</h1>
        {error === undefined ? <Loading /> : <Failed error={error} retry={again} />}
        <p>
          <a href="/">Back to the city</a>
        </p>
      </>
    )
  }
  const name = sensor.sensor_id
  return (
    <div class="stack">
      <Head sensor={sensor} />
      {error !== undefined && <Failed error={error} retry={again} />}
      <Now sensor={sensor} />
      <HistoryCard
        id={name}
        intervalMs={sensor.expected_interval_seconds * 1000}
        sinceMs={Date.parse(sensor.commissioned_at)}
      />
      <ReadingsCard id={name} />
      <p class="hint">
        <img class="qr" src={`/sensors/${name}/qr.svg`} alt="QR code of this page" /> This page, to
        print and put on the sensor
      </p>
    </div>
  )
}

const Head = ({ sensor }: { readonly sensor: SensorNow }) => (
  <header>
    <p class="hint">
      <a href="/">City</a> › {sensor.area}
    </p>
    <h1>{sensor.sensor_id}</h1>
    <p class="row">
      <span class={`badge ${sensor.sensor_status === 'online' ? 'ok' : 'error'}`}>
        {sensor.retired ? 'retired' : sensor.sensor_status}
      </span>
      <span>{sensor.location.address}</span>
      <span class="muted number">
        {sensor.location.lat.toFixed(4)}°, {sensor.location.lon.toFixed(4)}°
      </span>
    </p>
    {sensor.sensor_status === 'offline' && <Silent sensor={sensor} />}
  </header>
)

const Silent = ({ sensor }: { readonly sensor: SensorNow }) => (
  <p class="notice warn">
    {sensor.retired ? (
      <>
        Taken out of the network <When at={sensor.retired_at ?? ''} />. What it measured stays, and
        can still be verified.
      </>
    ) : sensor.last_reading === null ? (
      <>
        Never heard. It is registered; its first reading brings it online. It should send every{' '}
        {duration(sensor.expected_interval_seconds)}.
      </>
    ) : (
      <>
        Silent
        {sensor.offline_since !== null && (
          <>
            {' '}
            since <When at={sensor.offline_since} />
          </>
        )}
        . What follows is the last it said.
      </>
    )}
  </p>
)

function Now({ sensor }: { readonly sensor: SensorNow }) {
  const { latest } = sensor
  if (latest === null) return null
  return (
    <section class="card now" aria-labelledby="now">
      <h2 id="now">
        {sensor.sensor_status === 'online' ? 'Now' : 'Last heard'}{' '}
        <span class="hint">
          <When at={latest.timestamp} /> (<When at={latest.timestamp} as="ago" />)
        </span>
      </h2>
      <div class="now-index">
        <span class="index">
          <Aqi aqi={latest.aqi} words />
        </span>
        <span class="hint">{indexWords(latest)}</span>
        <CopyProofLink
          url={`${config.value.api}/proof/${encodeURIComponent(latest.sensor_id)}/${encodeURIComponent(latest.timestamp)}?hash=${latest.blockchain.hash}`}
        />
      </div>
      <div class="tiles">
        {quantityNames.map((name) => {
          const value = latest[name]
          return (
            value !== undefined && (
              <Tile key={name} name={longWords[name]}>
                <Amount value={value} unit={units[name]} />
              </Tile>
            )
          )
        })}
        {sensor.pm25_corrected !== null && (
          <Tile name="PM2.5, corrected by the US EPA’s formula of 2021">
            <Amount value={sensor.pm25_corrected.value} unit={sensor.pm25_corrected.unit} />
          </Tile>
        )}
        <Tile name="NowCast, the last 12 hours">
          <OrTooFew value={sensor.aqi_nowcast} />
        </Tile>
        <Tile name="Index of the last 24 hours">
          <OrTooFew value={sensor.aqi_24h} />
        </Tile>
        <Tile name="Uptime, 24 hours">
          <Amount value={Math.round(sensor.uptime_24h * 100)} unit="%" />
        </Tile>
      </div>
      {latest.quality.length > 0 && (
        <ul class="flags" aria-label="What was noticed about these values">
          {latest.quality.map((flag) => (
            <li key={flag}>{wordsOfFlag(flag)}</li>
          ))}
        </ul>
      )}
    </section>
  )
}

function indexWords({
  aqi,
  dominant_pollutant: dominant,
  beyond_index: isBeyond,
}: Reading): string {
  if (aqi === null || dominant === null) return 'No particulate matter was measured, so no index.'
  const by = `US EPA air quality index, from ${pollutantWords[dominant]}.`
  return isBeyond ? `${by} The air is worse than the index can say.` : by
}

const OrTooFew = ({ value }: { readonly value: number | null }) =>
  value === null ? <span class="muted">too few hours</span> : <Aqi aqi={value} />

type TileProps = { readonly name: string; readonly children: preact.ComponentChildren }

const Tile = ({ name, children }: TileProps) => (
  <div class="tile">
    <span class="hint">{name}</span>
    <span class="big">{children}</span>
  </div>
)
