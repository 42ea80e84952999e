import type { ProvenReading } from '../../../../anchor/verifier/airproof-verify.js'
import { quantityNames, units } from '../../../../core/air/quantities.ts'
import { Aqi } from '../../parts/air/aqi.tsx'
import { namesOf } from '../../parts/air/quantity-names.ts'
import { Amount } from '../../parts/amount.tsx'
import { texts } from '../../texts.ts'

type MeasuredProps = {
  /** null: a file whose block only a node can confirm. */
  readonly reading: ProvenReading | null
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
                  <Amount value={value} unit={units[name]} />
                </dd>
              </>
            )
          )
        })}
      </dl>
    </section>
  )
}
