import { getJson } from '../../data.ts'
import { OperatorLink } from '../../parts/operator-link.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import './settings.css'
import { type Day, UsageChart } from './usage-chart.tsx'

type Burst = { readonly limit: number; readonly used: number }
type Usage = {
  readonly tier: 'free' | 'premium'
  readonly limit: number
  readonly used: number
  readonly remaining: number
  readonly reset: string
  readonly burst: Burst
  /** Newest first. */
  readonly days: readonly Day[]
}

export function UsagePage() {
  const answer = useAnswer((signal) => getJson<Usage>('/data/v1/usage', { signal }), [])
  return (
    <div class="stack settings">
      <div class="row between">
        <h1>Usage</h1>
        <button type="button" onClick={answer.again} disabled={answer.isAsking}>
          Look again
        </button>
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      {answer.value !== undefined && <Shown usage={answer.value} />}
    </div>
  )
}

const Shown = ({ usage }: { readonly usage: Usage }) => (
  <>
    <section class="card stack" aria-label="Today">
      <div>
        <h2>Today</h2>
        <p>
          <span class="big">{usage.used.toLocaleString()}</span>{' '}
          <span class="muted">of {usage.limit.toLocaleString()} requests</span>
        </p>
        <progress
          class={barClass(usage.used, usage.limit)}
          max={usage.limit}
          value={Math.min(usage.used, usage.limit)}
          aria-label={`${usage.used} of ${usage.limit} requests of today are used`}
        />
      </div>
      <p>
        {usage.remaining === 0 ? 'Nothing is left: requests are refused with 429 until' : 'Resets'}{' '}
        <When at={usage.reset} as="ago" /> (<When at={usage.reset} />
        ), at midnight UTC.
      </p>
      <p class="muted">
        At most {usage.burst.limit.toLocaleString()} requests a minute; {usage.burst.used} in the
        running one. All keys of the account count together. Refused requests and what these pages
        ask do not count.
      </p>
      {usage.tier === 'free' && (
        <p class="muted">
          This account is free. Premium has 10,000 requests per day and webhooks, unless this
          network has other limits. Ask <OperatorLink /> to change your account.
        </p>
      )}
    </section>
    <section class="card stack" aria-label="The last 30 days">
      <h2>The last 30 days</h2>
      <UsageChart days={usage.days.toReversed()} limit={usage.limit} />
      <details>
        <summary>As a table</summary>
        <Table
          caption="Requests of each day, UTC"
          columns={[
            { name: 'Day (UTC)', cell: (day: Day) => day.date },
            { name: 'Requests', isNumber: true, cell: (day) => day.used.toLocaleString() },
          ]}
          rows={usage.days}
          keyOf={(day) => day.date}
        />
      </details>
    </section>
  </>
)

function barClass(used: number, limit: number): string {
  if (used >= limit) return 'bar full'
  return used >= 0.8 * limit ? 'bar warn' : 'bar'
}
