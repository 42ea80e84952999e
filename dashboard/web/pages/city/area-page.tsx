import type { PageProps } from '../../page.ts'
import { Headline, HeadlineAway } from '../../parts/air/headline.tsx'
import { Later } from '../../parts/later.tsx'
import { Share } from '../../parts/share.tsx'
import { placeTexts } from '../../parts/texts-of-place.ts'
import { useTitle } from '../../parts/title.ts'
import { usePlace } from '../../parts/use-place.ts'
import { AreaSensors } from './area-sensors.tsx'
import './city.css'

const { city } = placeTexts

/** One area: how it is now, its history, and its sensors. */
export function AreaPage({ params }: PageProps) {
  const slug = params['slug'] ?? ''
  const { place, isUnknown, error } = usePlace({ kind: 'area', id: slug })
  useTitle(isUnknown ? city.unknownArea : place && city.title(place.name))
  if (isUnknown) {
    return (
      <div class="card stack">
        <h1>{city.unknownArea}</h1>
        <p>{city.unknownAreaWhy}</p>
        <p>
          <a href="/">{city.toCity}</a>
        </p>
      </div>
    )
  }
  if (place === undefined) return <HeadlineAway title={slug} isFailed={error !== undefined} />
  return (
    <div class="stack">
      <Headline place={place}>
        <div class="headline-tools">
          <a href={`/?area=${encodeURIComponent(place.id)}`}>{city.onMap}</a>
          <Share place={place} />
        </div>
      </Headline>
      <Later load={async () => await import('../../charts/area-history.tsx')}>
        {({ AreaHistory }) => <AreaHistory name={place.name} />}
      </Later>
      <AreaSensors name={place.name} />
    </div>
  )
}
