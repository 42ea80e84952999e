import type { ComponentChildren } from 'preact'
import type { PlaceNow } from '../../../place-now.ts'
import { placeWords } from '../../../place-words.ts'
import { placeTexts } from '../texts-of-place.ts'

type HeadlineProps = {
  readonly place: PlaceNow
  /** Beside the name: where it is, and what can be done with it. */
  readonly children?: ComponentChildren
}

/**
 * How the air is, in one number, and what to do: the same on the city, an area and a sensor. The
 * server writes the same elements into the page (`server/places/shell.ts`), so that they are there
 * before this runs.
 */
export function Headline({ place, children }: HeadlineProps) {
  const words = placeWords(place, placeTexts)
  return (
    <section
      class="headline"
      data-kind={place.kind}
      data-category={place.air?.category ?? 'none'}
      aria-labelledby="headline"
    >
      <div class="headline-place">
        <h1 class="headline-name" id="headline">
          <bdi>{words.name}</bdi>
        </h1>
        <p class="headline-hint">
          {words.time} · {words.state}
        </p>
        {children}
      </div>
      <p class="headline-index">
        <span class="headline-number">{words.number}</span>{' '}
        <span class="headline-verdict">
          <strong>{words.verdict}</strong>
          {words.basis !== '' && <span class="headline-hint"> {words.basis}</span>}
        </span>
      </p>
      <p class="headline-advice">
        {words.advice} {words.last}
      </p>
      <p class="headline-facts headline-hint">
        {words.times !== undefined && <strong>{words.times}</strong>}
        {words.facts.map((fact, at) => (
          <span key={fact}>
            {(at > 0 || words.times !== undefined) && ' · '}
            {fact}
          </span>
        ))}
      </p>
    </section>
  )
}

type HeadlineAwayProps = {
  /** Of the page: what is known of the place is its address. */
  readonly title: string
  readonly isFailed: boolean
}

/** Takes the room of a headline while it is not known. */
export const HeadlineAway = ({ title, isFailed }: HeadlineAwayProps) => (
  <section class="headline" data-category="none" aria-labelledby="headline">
    <div class="headline-place">
      <h1 class="headline-name" id="headline">
        <bdi>{title}</bdi>
      </h1>
    </div>
    <p class="headline-advice" role="status">
      {isFailed ? placeTexts.city.away : ''}
    </p>
  </section>
)
