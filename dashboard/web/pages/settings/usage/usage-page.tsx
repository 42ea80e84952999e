import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { getJson } from '../../../data.ts'
import { Filled } from '../../../parts/filled.tsx'
import { OperatorLink } from '../../../parts/operator-link.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { Table } from '../../../parts/table.tsx'
import { When } from '../../../parts/time/when.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { format, texts } from '../../../texts.ts'
import '../settings.css'
import { UsageByKey } from './usage-by-key.tsx'
import { type Day, UsageChart, utcDay } from './usage-chart.tsx'

const { usage: words } = accountTexts.settings

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
  const [looks, setLooks] = useState(0)
  return (
    <div class="stack settings">
      <div class="row between">
        <h1>{texts.common.settingsTabs.usage}</h1>
        <button
          type="button"
          onClick={() => {
            answer.again()
            setLooks(looks + 1)
          }}
          disabled={answer.isAsking}
        >
          {words.refresh}
        </button>
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      {answer.value !== undefined && <Shown usage={answer.value} />}
      <UsageByKey look={looks} />
    </div>
  )
}

const Shown = ({ usage }: { readonly usage: Usage }) => (
  <>
    <section class="card stack" aria-label={words.today}>
      <div>
        <h2>{words.today}</h2>
        <p>
          <span class="big">{format.number(usage.used)}</span>{' '}
          <span class="muted">{words.used(usage.limit)}</span>
        </p>
        <progress
          class={barClass(usage.used, usage.limit)}
          max={usage.limit}
          value={Math.min(usage.used, usage.limit)}
          aria-label={words.usedOf(usage.used, usage.limit)}
        />
      </div>
      <p>
        <Filled
          text={usage.remaining === 0 ? words.nothingLeft : words.resets}
          parts={{
            when: () => <When at={usage.reset} as="ago" />,
            time: () => <When at={usage.reset} />,
          }}
        />
      </p>
      <p class="muted">{words.burst(usage.burst.limit, usage.burst.used)}</p>
      {usage.tier === 'free' && (
        <p class="muted">
          <Filled text={words.free} parts={{ operator: () => <OperatorLink /> }} />
        </p>
      )}
    </section>
    <section class="card stack" aria-label={words.activity}>
      <h2>{words.activity}</h2>
      <UsageChart days={usage.days.toReversed()} limit={usage.limit} />
      <details>
        <summary>{words.asTable}</summary>
        <Table
          caption={words.daysCaption}
          columns={[
            { name: words.day, cell: (day: Day) => utcDay(day.date) },
            { name: words.requests, isNumber: true, cell: (day) => format.number(day.used) },
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
