import { basicNames } from '../../../core/air/quantities.ts'
import { getJson } from '../data.ts'
import { Failed, Loading } from '../parts/states.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { History } from './history.tsx'
import { words } from './words.ts'

/** The history of an area, or of the whole network by its name. */
export function AreaHistory({ name }: { readonly name: string }) {
  const path = `/data/v1/areas/${encodeURIComponent(name)}`
  const { value, error, again } = useAnswer(
    async (signal) => getJson<{ last_updated: string | null }>(path, { signal }),
    [path],
  )
  if (value === undefined)
    return error === undefined ? (
      <Loading what={words.loading} isTall />
    ) : (
      <Failed error={error} retry={again} />
    )
  const newestMs = value.last_updated === null ? undefined : Date.parse(value.last_updated)
  return <History target={{ kind: 'area', name }} names={basicNames} newestMs={newestMs} />
}
