import { quantityNames } from '../../../../core/air/quantities.ts'
import type { PlaceNow } from '../../../place-now.ts'
import { AskError } from '../../data.ts'
import { me } from '../../me.ts'
import type { PageProps } from '../../page.ts'
import { Headline, HeadlineAway } from '../../parts/air/headline.tsx'
import { Later } from '../../parts/later.tsx'
import { Share } from '../../parts/share.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { placeTexts } from '../../parts/texts-of-place.ts'
import { useTitle } from '../../parts/title.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { useEvery } from '../../parts/use-every.ts'
import { usePlace } from '../../parts/use-place.ts'
import { LastReading } from './last-reading.tsx'
import { ReadingsCard } from './readings-card.tsx'
import './sensor.css'
import { texts as all } from '../../texts.ts'
import { getSensor, type SensorNow } from './sensor-data.ts'

const { sensor: texts } = all

/** One sensor: how the air is, its last reading, its history, and each reading with its proof. */
export function SensorPage({ params }: PageProps) {
  const id = params['id'] ?? ''
  const answer = useAnswer(async (signal) => getSensor({ id, signal }), [id])
  useEvery(20_000, answer.again)
  const { place, error: placeError } = usePlace({ kind: 'sensor', id })
  const { value: sensor, error, again } = answer
  const isUnknown = error instanceof AskError && error.status === 404
  useTitle(isUnknown ? texts.unknown : place && titleOf(place))
  if (isUnknown && sensor === undefined) return <Unknown id={id} error={error} />
  return (
    <div class="stack">
      {place === undefined ? (
        <HeadlineAway title={id} isFailed={placeError !== undefined} />
      ) : (
        <Headline place={place}>
          <p class="headline-hint headline-where">
            <a href={`/areas/${encodeURIComponent(place.area?.slug ?? '')}`}>
              <bdi>{place.area?.name}</bdi>
            </a>
            <span class="mono">{place.id}</span>
          </p>
          {place.silence !== null && me.value?.account.role === 'operator' && (
            <p class="headline-hint">
              <a href={`/operator?show=sensors&sensor=${encodeURIComponent(place.id)}`}>
                {texts.whySilent}
              </a>
            </p>
          )}
          <div class="headline-tools">
            <a href={`/?sensor=${encodeURIComponent(place.id)}`}>{placeTexts.city.onMap}</a>
            <Share place={place} />
          </div>
        </Headline>
      )}
      {sensor === undefined ? (
        error === undefined ? (
          <Loading isTall />
        ) : (
          <Failed error={error} retry={again} />
        )
      ) : (
        <Known sensor={sensor} error={error} again={again} />
      )}
    </div>
  )
}

/** An address mostly names its area already. */
const titleOf = ({ name, area }: PlaceNow): string =>
  area === null || name.includes(area.name) ? name : `${name}, ${area.name}`

type KnownProps = {
  readonly sensor: SensorNow
  readonly error: unknown
  readonly again: () => void
}

function Known({ sensor, error, again }: KnownProps) {
  const id = sensor.sensor_id
  return (
    <>
      {error !== undefined && <Failed error={error} retry={again} />}
      <LastReading sensor={sensor} />
      <Later load={async () => await import('../../charts/history.tsx')}>
        {({ History }) => (
          <History
            target={{ kind: 'sensor', id }}
            names={quantityNames.filter((quantity) => sensor.latest?.[quantity] !== undefined)}
            newestMs={sensor.latest === null ? undefined : Date.parse(sensor.latest.timestamp)}
            intervalMs={sensor.expected_interval_seconds * 1000}
          />
        )}
      </Later>
      <ReadingsCard id={id} />
      <p class="hint">
        <img class="qr" src={`/sensors/${id}/qr.svg`} alt={texts.qr} loading="lazy" />{' '}
        {texts.qrHint}
      </p>
    </>
  )
}

type Candidates = { readonly candidates?: readonly string[] }

function Unknown({ id, error }: { readonly id: string; readonly error: AskError }) {
  // of the API's `sensor_ambiguous`
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { candidates = [] } = (error.details ?? {}) as Candidates
  return (
    <div class="card stack">
      <h1>{texts.unknown}</h1>
      <p>{candidates.length > 0 ? texts.severalWhy(id) : texts.unknownWhy(id)}</p>
      <ul>
        {candidates.map((name) => (
          <li key={name}>
            <a href={`/sensors/${encodeURIComponent(name)}`}>{name}</a>
          </li>
        ))}
      </ul>
      <p>
        <a href="/">{placeTexts.city.toCity}</a>
      </p>
    </div>
  )
}
