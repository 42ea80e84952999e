import { accountTexts } from '../../account-texts.ts'
import { alertsOf } from './operator-alerts.ts'
import type { Status } from './operator-data.ts'

const { alerts: words } = accountTexts.operator

export function Alerts({ status }: { readonly status: Status }) {
  const alerts = alertsOf(status)
  if (alerts.length === 0) return <p class="notice ok">{words.none}</p>
  return (
    <section class="stack" aria-label={words.title}>
      {alerts.map(({ kind, isBad, count, of, words: own }) => (
        <p key={`${kind} ${own}`} class={`notice ${isBad ? 'error' : 'warn'}`}>
          {kind === 'anchor' ? words.anchor(own ?? '') : words[kind](count, of)}
        </p>
      ))}
    </section>
  )
}
