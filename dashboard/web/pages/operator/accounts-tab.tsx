import { useState } from 'preact/hooks'
import { getJson, sendJson } from '../../data.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
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
  const answer = useAnswer(
    (signal) => getJson<Accounts>(`/operator/api/accounts?${query}`, { signal }),
    [query.toString()],
  )
  const next = changing?.tier === 'premium' ? 'free' : 'premium'
  const page = answer.value
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
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {page === undefined && answer.error === undefined && <Loading />}
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
                { name: 'E-mail', cell: (row: AccountRow) => row.email },
                { name: 'Name', cell: (row) => row.name },
                { name: 'Organisation', cell: (row) => row.organization ?? '–' },
                {
                  name: 'Tier',
                  cell: (row) => (
                    <Badge of={{ label: row.tier, kind: row.tier === 'premium' ? 'ok' : '' }} />
                  ),
                },
                { name: 'Role', cell: (row) => row.role },
                { name: 'Made', cell: (row) => <When at={row.created_at} /> },
                {
                  name: 'Change',
                  cell: (row) => (
                    <button type="button" onClick={() => setChanging(row)}>
                      Make {row.tier === 'premium' ? 'free' : 'premium'}
                      <span class="visually-hidden">: {row.email}</span>
                    </button>
                  ),
                },
              ]}
              rows={page.accounts}
              keyOf={(row) => row.id}
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
          answer.again()
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
