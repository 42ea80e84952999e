import { accountTexts } from '../../../account-texts.ts'
import { getJson } from '../../../data.ts'
import { Bars } from '../../../parts/air/bars.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { Table } from '../../../parts/table.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { format } from '../../../texts.ts'
import type { KeyUsage } from './key-usage.ts'
import { RequestLog } from './request-log.tsx'
import { utcDay } from './usage-chart.tsx'

const { usage: words } = accountTexts.settings

type Usage = { readonly days: readonly string[]; readonly keys: readonly KeyUsage[] }

/** @param look counts the reader's wishes to see it again */
export function UsageByKey({ look }: { readonly look: number }) {
  const answer = useAnswer((signal) => getJson<Usage>('/data/usage-by-key', { signal }), [look])
  const totalOf = ({ used }: KeyUsage): number => used.reduce((sum, count) => sum + count, 0)
  const keys = answer.value?.keys ?? []
  return (
    <>
      <section class="card stack">
        <h2>{words.byKey}</h2>
        <p class="muted">{words.byKeyWords}</p>
        {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
        {answer.value === undefined && answer.error === undefined && <Loading />}
        {answer.value !== undefined && keys.length === 0 && <p>{words.noKeys}</p>}
        {keys.length > 0 && (
          <Table
            caption={words.byKey}
            columns={[
              {
                name: words.key,
                cell: (key: KeyUsage) => (
                  <>
                    {key.name} <span class="muted mono">{key.hint}…</span>
                  </>
                ),
              },
              {
                name: words.today,
                isNumber: true,
                cell: ({ used: [today = 0] }) => format.number(today),
              },
              {
                name: words.days30,
                isNumber: true,
                cell: (key) => format.number(totalOf(key)),
              },
              {
                name: words.activity,
                cell: (key) => (
                  <Bars
                    label={words.activityOf(key.name, totalOf(key))}
                    bars={key.used.toReversed().map((count, i) => ({
                      parts: [{ kind: 'ok', count }],
                      title: words.dayTitle(utcDay(answer.value?.days.at(-1 - i)), count),
                    }))}
                  />
                ),
              },
            ]}
            rows={keys}
            keyOf={(key) => key.id}
          />
        )}
      </section>
      <RequestLog keys={keys} look={look} />
    </>
  )
}
