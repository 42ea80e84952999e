import { useState } from 'preact/hooks'
import { accountTexts } from '../../account-texts.ts'
import { getJson, sendJson } from '../../data.ts'
import { Confirm } from '../../forms/confirm.tsx'
import { Field } from '../../forms/field.tsx'
import { Select } from '../../forms/select.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Filled } from '../../parts/filled.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import type { AccountRow } from './operator-data.ts'

const { accounts: words } = accountTexts.operator
const { tiers: tierWords, roles } = accountTexts.settings.account

type Accounts = { readonly total: number; readonly accounts: readonly AccountRow[] }
const tiers = [
  ['', words.anyTier],
  ['free', tierWords.free],
  ['premium', tierWords.premium],
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
          label={words.search}
          value={search}
          onValue={setSearch}
          input={{ type: 'search', placeholder: words.searchHint }}
        />
        <Select label={words.tier} value={tier} choices={tiers} onValue={setTier} />
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {page === undefined && answer.error === undefined && <Loading />}
      {page !== undefined && (
        <section class="card stack" aria-label={words.title}>
          <p class="muted" role="status">
            {page.total > page.accounts.length
              ? words.newest(page.total, page.accounts.length)
              : words.total(page.total)}
          </p>
          {page.accounts.length > 0 && (
            <Table
              caption={words.caption}
              columns={[
                { name: words.email, cell: (row: AccountRow) => row.email },
                { name: words.name, cell: (row) => row.name },
                { name: words.organization, cell: (row) => row.organization ?? '–' },
                {
                  name: words.tier,
                  cell: (row) => (
                    <Badge
                      of={{ label: tierWords[row.tier], kind: row.tier === 'premium' ? 'ok' : '' }}
                    />
                  ),
                },
                { name: words.role, cell: (row) => roles[row.role] },
                { name: words.created, cell: (row) => <When at={row.created_at} /> },
                {
                  name: words.change,
                  cell: (row) => (
                    <button type="button" onClick={() => setChanging(row)}>
                      {words.makes[row.tier === 'premium' ? 'free' : 'premium']}
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
        title={words.makeTitles[next]}
        label={words.makeIts[next]}
        isOpen={changing !== undefined}
        close={() => setChanging(undefined)}
        act={async () => {
          const id = encodeURIComponent(changing?.id ?? '')
          await sendJson('PATCH', `/operator/api/accounts/${id}`, { tier: next })
          answer.again()
        }}
      >
        <p>
          <Filled
            text={words.isNow[changing?.tier ?? 'free']}
            parts={{ name: () => <b>{changing?.name}</b>, email: () => changing?.email }}
          />{' '}
          {words.consequences[next]} {words.soon}
        </p>
      </Confirm>
    </>
  )
}
