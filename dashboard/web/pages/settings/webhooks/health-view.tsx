import { accountTexts } from '../../../account-texts.ts'
import { Bars } from '../../../parts/air/bars.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { zone } from '../../../parts/time/time-zone.ts'
import { When } from '../../../parts/time/when.tsx'
import { type Answer, useAnswer } from '../../../parts/use-answer.ts'
import { format } from '../../../texts.ts'
import { listTried } from './webhook-data.ts'
import { type Health, healthOf } from './webhook-health.ts'

const { health: words } = accountTexts.webhooks
/** Attempts looked at for the health of a webhook. */
const newest = 100

/** @param look changes when it should be asked for again */
export const useHealth = (webhook: string, look: unknown): Answer<Health> =>
  useAnswer(
    async (signal) => {
      const page = await listTried(webhook, { outcome: '', cursor: null, limit: newest }, signal)
      const isCut = page.next_cursor !== null
      const health = healthOf(page.deliveries, Date.now(), { isCut })
      if (health.lastSuccess !== null || !isCut) return health
      // further back, as far as the server looks
      const filter = { outcome: 'delivered', cursor: null, limit: 1 } as const
      const [older] = (await listTried(webhook, filter, signal)).deliveries
      return { ...health, lastSuccess: older?.at ?? null }
    },
    [webhook, look],
  )

/** `31 Jan, 08:00: 3 ✓, 1 ✗`, in the zone on show. */
function titleOf(
  parts: Health['bars'][number]['parts'],
  fromMs: number,
  step: Health['step'],
): string {
  const time = step === 'hour' ? ({ hour: '2-digit', minute: '2-digit' } as const) : {}
  const from = format.date(fromMs, { day: 'numeric', month: 'short', ...time }, zone.value)
  const counts = parts.map(
    ({ kind, count }) => `${format.number(count)} ${kind === 'ok' ? '✓' : '✗'}`,
  )
  return `${from}: ${counts.join(', ')}`
}

type HealthProps = { readonly answer: Answer<Health> }

/** Error rate, last success, time and a chart of the newest attempts. */
export function HealthView({ answer: { value: health, error, again } }: HealthProps) {
  if (error !== undefined) return <Failed error={error} retry={again} />
  if (health === undefined) return <Loading />
  if (health.state === 'none') return <p class="muted">{words.none}</p>
  const { tried, failed, lastSuccess, medianMs, isCut, step, bars } = health
  return (
    <dl class="details wide webhook-health">
      <div>
        <dt>{words.errorRate}</dt>
        <dd class={failed === 0 ? '' : 'webhook-health-bad'}>
          {format.percent(failed / tried)}{' '}
          <span class="muted">
            {isCut ? words.ofNewest(failed, tried) : words.of(failed, tried)}
          </span>
        </dd>
      </div>
      <div>
        <dt>{words.lastSuccess}</dt>
        <dd>{lastSuccess === null ? words.never : <When at={lastSuccess} as="ago" />}</dd>
      </div>
      <div>
        <dt>{words.median}</dt>
        <dd>{medianMs === null ? '–' : `${format.number(Math.round(medianMs))} ms`}</dd>
      </div>
      <div class="webhook-health-chart">
        <dt>{step === 'hour' ? words.hours : words.days}</dt>
        <dd>
          <Bars
            label={words.chart(tried - failed, failed)}
            bars={bars.map(({ parts, fromMs }) => ({ parts, title: titleOf(parts, fromMs, step) }))}
          />
        </dd>
      </div>
    </dl>
  )
}
