import { type QuantityName, quantityNames } from '../../../../core/air/quantities.ts'
import { Aqi } from '../../parts/air/aqi.tsx'
import { namesOf, unitOf } from '../../parts/air/quantity-names.ts'
import { Amount } from '../../parts/amount.tsx'
import { texts } from '../../texts.ts'

/** The values of a reading, from a proof or from the API. */
export type Values = { readonly [Name in QuantityName]?: number | null | undefined } & {
  readonly sensor_id: string
  readonly aqi: number | null
  readonly area?: string
}

type MeasuredProps = {
  /** null: a file whose block only a node can confirm. */
  readonly reading: Values | null
  /** Its sensor is one of this network, and has a page here. */
  readonly isOurs: boolean
}

/** The values that the fingerprint is made of. */
export function Measured({ reading, isOurs }: MeasuredProps) {
  const { values, sensor, area, index } = texts.proof
  if (reading === null) return null
  const { sensor_id: id } = reading
  return (
    <section class="proof-values" aria-labelledby="proof-values">
      <h3 id="proof-values">{values}</h3>
      <dl class="facts">
        <dt>{sensor}</dt>
        <dd>{isOurs ? <a href={`/sensors/${encodeURIComponent(id)}`}>{id}</a> : id}</dd>
        {reading.area !== undefined && reading.area !== '' && (
          <>
            <dt>{area}</dt>
            <dd>{reading.area}</dd>
          </>
        )}
        <dt>{index}</dt>
        <dd>
          <Aqi aqi={reading.aqi} words />
        </dd>
        {quantityNames.map((name) => {
          const value = reading[name]
          return (
            value !== undefined && (
              <>
                <dt>{namesOf(name).long}</dt>
                <dd>
                  <Amount value={value} unit={unitOf(name)} />
                </dd>
              </>
            )
          )
        })}
      </dl>
    </section>
  )
}

/** What was measured, in one line that is on the first screen of a phone: at most three values. */
export const InShort = ({ reading }: { readonly reading: Values }) => (
  <p class="proof-measured">
    {quantityNames
      .filter((name) => typeof reading[name] === 'number')
      .slice(0, 3)
      .map((name) => (
        <span key={name}>
          {namesOf(name).short} <Amount value={reading[name]} unit={unitOf(name)} />
        </span>
      ))}
    <span>
      {texts.quantities.aqi} {reading.aqi ?? '–'}
    </span>
  </p>
)
