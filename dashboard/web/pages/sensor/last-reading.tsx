import { quantityNames } from '../../../../core/air/quantities.ts'
import { config } from '../../me.ts'
import { Aqi } from '../../parts/air/aqi.tsx'
import { namesOf, unitOf } from '../../parts/air/quantity-names.ts'
import { Amount } from '../../parts/amount.tsx'
import { CopyProofLink } from '../../parts/proof-link.tsx'
import { nowMs } from '../../parts/time/clock.ts'
import { duration } from '../../parts/time/times.ts'
import { When } from '../../parts/time/when.tsx'
import { texts as all } from '../../texts.ts'
import { proofOf, type SensorNow } from './sensor-data.ts'
import { wordsOfFlag } from './words.ts'

const { sensor: texts } = all

type LastReadingProps = { readonly sensor: SensorNow }

/** The newest reading, called that, and the averages beside it. */
export function LastReading({ sensor }: LastReadingProps) {
  const { latest, pm25_corrected: corrected } = sensor
  if (latest === null) return null
  const proof = proofOf(latest)
  const hint = latest.aqi === null ? texts.noIndex : latest.beyond_index ? texts.beyond : ''
  return (
    <section class="card now" aria-labelledby="now">
      <div class="row between">
        <h2 id="now">
          {texts.lastReading}{' '}
          <span class="hint">
            <When at={latest.timestamp} /> (<When at={latest.timestamp} as="ago" />)
          </span>
        </h2>
        <span class="actions">
          <a class="button" href={proof}>
            {texts.seeProof}
          </a>
          <CopyProofLink url={config.value.url + proof} />
        </span>
      </div>
      <dl class="values">
        {quantityNames.map((name) => {
          const value = latest[name]
          if (value === undefined) return null
          return (
            <Value key={name} name={namesOf(name).long}>
              <Amount value={value} unit={unitOf(name)} quantity={name} />
              {name === 'pm25' && value !== null && (
                <span class="values-more">
                  {texts.asMeasured}
                  {corrected !== null && (
                    <>
                      ; <Amount value={corrected.value} unit={corrected.unit} quantity="pm25" />{' '}
                      {texts.corrected}
                    </>
                  )}
                </span>
              )}
            </Value>
          )
        })}
        <Value name={texts.ofThisReading}>
          <Aqi aqi={latest.aqi} words />
          <span class="values-more">{hint || texts.ofThisReadingHint}</span>
        </Value>
      </dl>
      <dl class="values values-averages" aria-label={texts.averages}>
        <Value name={texts.nowcast}>
          <OrTooFew value={sensor.aqi_nowcast} />
        </Value>
        <Value name={texts.dayIndex}>
          <OrTooFew value={sensor.aqi_24h} />
        </Value>
        <Value name={uptimeOf(sensor)}>
          <Amount value={Math.round(sensor.uptime_24h * 100)} unit="%" />
        </Value>
      </dl>
      {latest.quality.length > 0 && (
        <ul class="flags" aria-label={texts.qualityLabel}>
          {latest.quality.map((flag) => (
            <li key={flag}>{wordsOfFlag(flag)}</li>
          ))}
        </ul>
      )}
    </section>
  )
}

const daySeconds = 86_400

/** Of a sensor that is younger than the day that it is of: of what time it is. */
function uptimeOf({ commissioned_at: since }: SensorNow): string {
  const age = (nowMs() - Date.parse(since)) / 1000
  return age < daySeconds ? texts.uptimeSince(duration(age)) : texts.uptime
}

const OrTooFew = ({ value }: { readonly value: number | null }) =>
  value === null ? <span class="muted">{texts.tooFew}</span> : <Aqi aqi={value} />

type ValueProps = { readonly name: string; readonly children: preact.ComponentChildren }

const Value = ({ name, children }: ValueProps) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
