import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { sendJson } from '../../../data.ts'
import { useAction } from '../../../forms/use-action.ts'
import { wrongFieldsOf } from '../../../forms/wrong-fields.ts'
import { Bars } from '../../../parts/air/bars.tsx'
import { Failed } from '../../../parts/states.tsx'
import { serverMs } from '../../../parts/time/clock.ts'
import { localTime } from '../../../parts/time/local-time.ts'
import { format } from '../../../texts.ts'
import type { Wanted } from './webhook-types.ts'

const { backTest: words } = accountTexts.webhooks

/** A day of UTC. */
const dayOf = (iso: string): string =>
  format.date(Date.parse(iso), { year: 'numeric', month: 'short', day: 'numeric' }, 'UTC')

const momentOf = ({ since }: Result): string =>
  format.date(Date.parse(since), { dateStyle: 'medium', timeStyle: 'short' }, 'UTC')

type LeftOut = 'older' | 'archived' | 'unsure' | 'arrival'
type Result = {
  /** Complete from then on. */
  readonly since: string
  readonly total: number
  readonly counts: Readonly<Record<string, number>>
  readonly days: readonly { readonly date: string; readonly count: number }[]
  readonly unsure: number
  readonly left_out: readonly LeftOut[]
}

type BackTestProps = { readonly wanted: () => Pick<Wanted, 'events' | 'filters'> }

/** How often a webhook as it is filled in would have fired in the last 30 days, or as long as there are events. */
export function BackTest({ wanted }: BackTestProps) {
  const [result, setResult] = useState<Result>()
  const action = useAction()
  const look = (): Promise<boolean> =>
    action.run(async () => {
      setResult(undefined)
      const { events, filters } = wanted()
      const given = Object.entries(filters).filter(([, value]) => value !== null)
      const body = { events, filters: Object.fromEntries(given) }
      setResult(await sendJson<Result>('POST', '/data/v1/webhooks/back-test', body))
    })
  const wrong = [...wrongFieldsOf(action.error)]
  return (
    <div class="stack">
      <div class="actions">
        <button type="button" disabled={action.isBusy} onClick={() => void look()}>
          {words.ask}
        </button>
      </div>
      <div role="status" class="stack">
        {result !== undefined && <Shown result={result} />}
      </div>
      {action.error !== undefined && wrong.length === 0 && <Failed error={action.error} />}
      {wrong.map(([name, text]) => (
        <p key={name} class="error">
          {name}: {text}
        </p>
      ))}
    </div>
  )
}

const dayMs = 86_400_000

/** With the period that it is of, which is shorter where the network is younger. */
function saidOf({ total, since }: Result): string {
  const days = (serverMs() - Date.parse(since)) / dayMs
  const perDay = days < 1 ? undefined : format.number(total / days, 1)
  return words.times(total, localTime(Date.parse(since)), perDay)
}

const Shown = ({ result }: { readonly result: Result }) => (
  <>
    <p>
      <b>{saidOf(result)}</b>{' '}
      <span class="muted">
        {Object.entries(result.counts)
          .map(([kind, count]) => `${kind}: ${format.number(count)}`)
          .join(', ')}
      </span>
    </p>
    <Bars
      label={saidOf(result)}
      bars={result.days.map(({ date, count }) => ({
        parts: [{ kind: 'ok', count }],
        title: `${dayOf(date)}: ${format.number(count)}`,
      }))}
    />
    {result.left_out.map((reason) => (
      <p key={reason} class="hint">
        {words.leftOut[reason](
          reason === 'unsure' ? format.number(result.unsure) : momentOf(result),
        )}
      </p>
    ))}
  </>
)
