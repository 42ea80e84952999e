import { useState } from 'preact/hooks'
import { getJson, sendJson } from '../../data.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAsked } from '../../parts/use-asked.ts'
import { When } from '../../parts/when.tsx'
import { Badge } from '../settings/badge.tsx'
import { Confirm } from '../settings/confirm.tsx'
import { Choice, Field } from '../settings/field.tsx'
import type { AccountRow } from './operator-data.ts'

type Accounts = { readonly total: number; readonly accounts: readonly AccountRow[] }
const tiers = [
  ['', 'any tier'],
  ['free', 'free'],
  ['premium', 'premium'],
] as const

/** Accounts and their tiers. */
export function AccountsTab() {
  const [search, setSearch] = useState('')
  const [tier, setTier] = useState<(typeof tiers)[number][0]>('')
  const [changing, setChanging] = useState<AccountRow>()
  const query = new URLSearchParams({ search, tier })
  const asked = useAsked(
    (signal) => getJson<Accounts>(`/operator/api/accounts?${query}`, { signal }),
    [query.toString()],
  )
  const next = changing?.tier === 'premium' ? 'free' : 'premium'
  const page = asked.value
  return (
    <>
      <div class="filters">
        <Field
          label="Search"
          value={search}
          onValue={setSearch}
          input={{ type: 'search', placeholder: 'e-mail, name, id' }}
        />
        <Choice label="Tier" value={tier} choices={tiers} onValue={setTier} />
      </div>
      {asked.error !== undefined && <Failed error={asked.error} retry={asked.again} />}
      {page === undefined && asked.error === undefined && <Loading />}
      {page !== undefined && (
        <section class="card stack" aria-label="Accounts">
          <p class="muted" role="status">
            {page.total.toLocaleString()} {page.total === 1 ? 'account' : 'accounts'}
            {page.total > page.accounts.length && `; the newest ${page.accounts.length} are shown`}.
          </p>
          {page.accounts.length > 0 && (
            <Table
              caption="Accounts, newest first"
              columns={[
                { name: 'E-mail', cell: (one: AccountRow) => one.email },
                { name: 'Name', cell: (one) => one.name },
                { name: 'Organisation', cell: (one) => one.organization ?? '–' },
                {
                  name: 'Tier',
                  cell: (one) => (
                    <Badge of={{ label: one.tier, kind: one.tier === 'premium' ? 'ok' : '' }} />
                  ),
                },
                { name: 'Role', cell: (one) => one.role },
                { name: 'Made', cell: (one) => <When at={one.created_at} /> },
                {
                  name: 'Change',
                  cell: (one) => (
                    <button type="button" onClick={() => setChanging(one)}>
                      Make {one.tier === 'premium' ? 'free' : 'premium'}
                      <span class="visually-hidden">: {one.email}</span>
                    </button>
                  ),
                },
              ]}
              rows={page.accounts}
              keyOf={(one) => one.id}
            />
          )}
        </section>
      )}
      <Confirm
        title={`Make this account ${next}?`}
        label={`Make it ${next}`}
        isOpen={changing !== undefined}
        close={() => setChanging(undefined)}
        act={async () => {
          const id = encodeURIComponent(changing?.id ?? '')
          await sendJson('PATCH', `/operator/api/accounts/${id}`, { tier: next })
          asked.again()
        }}
      >
        <p>
          <b>{changing?.name}</b> ({changing?.email}) is {changing?.tier} now.{' '}
          {next === 'free'
            ? 'Its webhooks are suspended, and it has a free account’s requests a day.'
            : 'It gets webhooks and more requests a day.'}{' '}
          It takes hold within a second.
        </p>
      </Confirm>
    </>
  )
}
