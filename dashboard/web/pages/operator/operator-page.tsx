import type { PageProps } from '../../page.ts'
import '../settings/settings.css'
import { AccountsTab } from './accounts-tab.tsx'
import { AnchorsTab } from './anchors-tab.tsx'
import { RejectedTab } from './rejected-tab.tsx'
import { SensorsTab } from './sensors-tab.tsx'
import { StatusTab } from './status-tab.tsx'

const tabs = [
  ['status', 'Status', StatusTab],
  ['sensors', 'Sensors', SensorsTab],
  ['rejected', 'Rejected', RejectedTab],
  ['anchors', 'Anchors', AnchorsTab],
  ['accounts', 'Accounts', AccountsTab],
] as const

/** What runs the network; the part on show is in the address, so that it can be linked to. */
export function OperatorPage({ query }: PageProps) {
  const wanted = query.get('show') ?? 'status'
  const [name, , Tab] = tabs.find(([one]) => one === wanted) ?? tabs[0]
  return (
    <div class="stack settings">
      <h1>Operator</h1>
      <nav class="tabs" aria-label="Operator">
        {tabs.map(([one, label]) => (
          <a
            key={one}
            href={`/operator?show=${one}`}
            aria-current={one === name ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <Tab />
    </div>
  )
}
