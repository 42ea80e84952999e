import { Later } from '../../parts/later.tsx'
import { useSeen } from '../../parts/use-seen.ts'

/** The history of an area below the map. It, and the code that draws it, is loaded when it is scrolled to. */
export function AreaBelow({ name }: { readonly name: string }) {
  const [ref, isSeen] = useSeen<HTMLDivElement>()
  return (
    <div ref={ref} class="city-area">
      <Later isWanted={isSeen} load={async () => await import('../../charts/area-history.tsx')}>
        {({ AreaHistory }) => <AreaHistory name={name} />}
      </Later>
    </div>
  )
}
