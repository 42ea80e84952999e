import { accountTexts } from '../../account-texts.ts'
import { addressValue } from '../../parts/address-state.ts'
import '../settings/settings.css'
import './operator.css'
import { AccountsTab } from './accounts-tab.tsx'
import { AnchorsTab } from './anchors-tab.tsx'
import { RejectedTab } from './rejected-tab.tsx'
import { SensorsTab } from './sensors-tab.tsx'
import { StatusTab } from './status-tab.tsx'

const { tabs: words } = accountTexts.operator
const tabs = [
  ['status', words.status, StatusTab],
  ['sensors', words.sensors, SensorsTab],
  ['rejected', words.rejected, RejectedTab],
  ['anchors', words.anchors, AnchorsTab],
  ['accounts', words.accounts, AccountsTab],
] as const

/** The operator's tabs; the open one is in the address, so that it can be linked to. */
export function OperatorPage() {
  const wanted = addressValue('show')
  const [name, , Tab] = tabs.find(([tab]) => tab === wanted) ?? tabs[0]
  return (
    <div class="stack settings">
      <h1>{words.label}</h1>
      <nav class="tabs operator-tabs" aria-label={words.label}>
        {tabs.map(([tab, label]) => (
          <a
            key={tab}
            href={`/operator?show=${tab}`}
            aria-current={tab === name ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <Tab />
    </div>
  )
}
