/**
 * The history of a sensor or an area: its charts over any period, what is seen as a file or a table,
 * and beside others. Used on the pages of both.
 */
import { signal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { quantityNames } from '../../../core/air/quantities.ts'
import { me } from '../me.ts'
import { useAddress } from '../parts/address-state.ts'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { serverMs } from '../parts/time/clock.ts'
import { localTime } from '../parts/time/local-time.ts'
import { zone } from '../parts/time/time-zone.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useEvery } from '../parts/use-every.ts'
import { type Asked, askSeries, type Target, targetKey, targetOf } from './ask-series.ts'
import { Calendar } from './calendar.tsx'
import { ChartGrid } from './chart-grid.tsx'
import './charts.css'
import { ComparePicker } from './compare.tsx'
import { comparedIds } from './compared-ids.ts'
import { Downloads } from './downloads.tsx'
import { Heard } from './heard.tsx'
import { type Loaded, otherOf } from './loaded.ts'
import { Pattern } from './pattern.tsx'
import { type Period, periodText, readPeriod, shownOf, stepMs } from './period.ts'
import { PeriodBar } from './period-bar.tsx'
import { extentOf } from './series.ts'
import { StepTable } from './step-table.tsx'
import { format, words } from './words.ts'

export type HistoryProps = {
  readonly target: Target
  /** The quantities that it measures; the index is always there. */
  readonly names: readonly string[]
  /** Of its newest reading, where one is known. */
  readonly newestMs: number | undefined
  /** How often a sensor sends: what is shorter is not a silence. Without it silences are not shown. */
  readonly intervalMs?: number
}

export function History(props: HistoryProps) {
  const { target, names, newestMs } = props
  const key = targetKey(target)
  const [text, setText] = useAddress('period', '24h')
  const [comparedText] = useAddress('compare')
  const period = readPeriod(text)
  const newest = useRef(newestMs)
  newest.current = newestMs
  const isReady = me.value !== undefined
  const zoneNow = zone.value
  const compared = comparedIds(comparedText, key)
  const wanted = useMemo(
    () => ['aqi', ...quantityNames.filter((name) => names.includes(name))],
    [names.join()],
  )
  const answer = useAnswer<Loaded | undefined>(
    async (signal) => {
      if (!isReady) return undefined
      const shown = shownOf(period, {
        zone: zoneNow,
        nowMs: serverMs(),
        newestMs: newest.current,
      })
      const own = await askSeries(target, { shown, zone: zoneNow, names: wanted, signal })
      const ask = { shown: own.shown, zone: zoneNow, names: wanted, signal }
      const others = await Promise.allSettled(
        compared.map((id) => askSeries(targetOf(target.kind, id), ask)),
      )
      return {
        own,
        period,
        zone: zoneNow,
        others: compared.map((id, at) => otherOf(id, others[at])),
      }
    },
    [key, text, zoneNow, wanted, compared.join(), isReady],
  )
  const { value: loaded, error, again, isAsking } = answer
  const isOpen = loaded?.own.shown.isOpen !== false
  useEvery(
    loaded?.own.shown.step === '10_minutes' ? 5 * 60_000 : 30 * 60_000,
    isOpen ? again : nothing,
  )
  return (
    <section class="history" aria-labelledby="history">
      <PeriodBar
        period={period}
        shown={loaded?.own.shown}
        choose={(next: Period) => setText(periodText(next), { push: true })}
      />
      {error !== undefined && !isAsking && <Failed error={error} retry={again} />}
      {loaded === undefined && error === undefined && <Loading what={words.loading} isTall />}
      {loaded !== undefined && (
        <div class={isAsking ? 'is-asking' : ''}>
          <Shown {...props} loaded={loaded} names={wanted} />
        </div>
      )}
      <ComparePicker target={target} others={loaded?.others ?? []} />
      {newestMs !== undefined && isReady && (
        <div class="long-views">
          <Calendar key={`calendar ${key}`} target={target} newestMs={newestMs} />
          <Pattern key={`pattern ${key}`} target={target} newestMs={newestMs} />
        </div>
      )}
    </section>
  )
}

const nothing = (): void => undefined

/** Where the data is of a part of the period only: since when. */
function beginsOf({ series, shown }: Asked): string {
  const [first] = series.starts
  const isShort = first !== undefined && first >= shown.fromMs + 2 * stepMs[shown.step]
  return isShort ? words.begins(localTime(first)) : ''
}

type ShownProps = HistoryProps & { readonly loaded: Loaded }

function Shown({ target, names, loaded, newestMs, intervalMs }: ShownProps) {
  const { own, others } = loaded
  const pictures = useRef(new Map<string, HTMLCanvasElement>())
  const cursor = useMemo(() => signal<number | undefined>(undefined), [loaded])
  const all = [own, ...others.flatMap(({ asked }) => asked ?? [])]
  const isThere = names.some((name) =>
    all.some(({ series }) => {
      const line = series.lines[name]
      return line !== undefined && extentOf(line) !== undefined
    }),
  )
  if (!isThere)
    return (
      <>
        <Empty title={words.empty}>
          <p>
            {newestMs === undefined
              ? words.emptyNever
              : words.emptyHint(format.date(newestMs, { dateStyle: 'long' }, loaded.zone))}
          </p>
        </Empty>
        {intervalMs !== undefined && <Heard asked={own} intervalMs={intervalMs} />}
      </>
    )
  return (
    <>
      {intervalMs !== undefined && <Heard asked={own} intervalMs={intervalMs} />}
      <p class="hint">
        {words.steps[own.shown.step]} {beginsOf(own)}
      </p>
      <ChartGrid
        loaded={loaded}
        title={targetKey(target)}
        names={names}
        cursor={cursor}
        pictures={pictures.current}
      />
      <div class="row between chart-files">
        <Downloads
          loaded={loaded}
          title={targetKey(target)}
          names={names}
          pictures={pictures.current}
        />
      </div>
      <StepTable asked={own} names={names} zone={loaded.zone} />
    </>
  )
}
