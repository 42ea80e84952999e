import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { getJson, sendJson } from '../../../data.ts'
import { ClosedSecret } from '../../../forms/closed-secret.tsx'
import { Confirm } from '../../../forms/confirm.tsx'
import { Filled } from '../../../parts/filled.tsx'
import { Snippets } from '../../../parts/snippets.tsx'
import { Empty, Failed, Loading } from '../../../parts/states.tsx'
import { When } from '../../../parts/time/when.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { texts } from '../../../texts.ts'
import { daysLeft } from './days-left.ts'
import { type Key, type MadeKey, NewKey } from './new-key.tsx'
import { RollKey } from './roll-key.tsx'
import '../settings.css'

const { keys: words } = accountTexts.settings

type Keys = { readonly limit: number; readonly keys: readonly Key[] }

export function KeysPage() {
  const { value, error, again } = useAnswer((signal) => getJson<Keys>('/data/keys', { signal }), [])
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<MadeKey>()
  const [revoking, setRevoking] = useState<Key>()
  const [rolling, setRolling] = useState<Key>()
  const generate = (
    <button type="button" class="primary" onClick={() => setMaking(true)}>
      {words.generateNew}
    </button>
  )
  const keys = value?.keys ?? []
  return (
    <div class="stack settings">
      <div class="row between">
        <h1>{texts.common.settingsTabs.keys}</h1>
        {keys.length > 0 && generate}
      </div>
      <p class="muted">
        <Filled text={words.intro} parts={{ v1: () => <code>/v1</code> }} />
      </p>
      {made !== undefined && !isMaking && (
        <ClosedSecret
          words={words.kept(made.record.name)}
          show={() => setMaking(true)}
          forget={() => setMade(undefined)}
        />
      )}
      {error !== undefined && <Failed error={error} retry={again} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && keys.length === 0 && (
        <Empty title={words.noneTitle}>
          <p>{words.none}</p>
          <div class="actions">{generate}</div>
          <Snippets path="/v1/sensors?limit=5" />
        </Empty>
      )}
      {keys.length > 0 && (
        <ul class="items">
          {keys.map((key) => (
            <KeyItem
              key={key.id}
              of={key}
              roll={() => setRolling(key)}
              revoke={() => setRevoking(key)}
            />
          ))}
        </ul>
      )}
      <NewKey
        isOpen={isMaking}
        made={made}
        close={() => setMaking(false)}
        onMade={(key) => {
          setMade(key)
          again()
        }}
        onStored={() => {
          setMade(undefined)
          setMaking(false)
        }}
      />
      <RollKey
        of={rolling}
        close={() => setRolling(undefined)}
        onMade={(key) => {
          setRolling(undefined)
          setMade(key)
          setMaking(true)
          again()
        }}
      />
      <Confirm
        title={words.revokeTitle}
        label={words.revokeIt}
        isOpen={revoking !== undefined}
        close={() => setRevoking(undefined)}
        act={async () => {
          await sendJson('DELETE', `/data/keys/${encodeURIComponent(revoking?.id ?? '')}`)
          again()
        }}
      >
        <p>
          <Filled
            text={words.revokeWords}
            parts={{
              name: () => <b>{revoking?.name}</b>,
              hint: () => <code>{revoking?.hint}…</code>,
            }}
          />
        </p>
      </Confirm>
    </div>
  )
}

type ItemProps = { readonly of: Key; readonly roll: () => void; readonly revoke: () => void }

function KeyItem({ of: key, roll, revoke }: ItemProps) {
  const { words: left, isSoon } = daysLeft(key.expires_at, Date.now())
  return (
    <li class="card item">
      <div class="row">
        <h2>{key.name}</h2>
        {key.state === 'live' ? (
          <span class={`badge ${isSoon ? 'warn' : 'ok'}`}>{left}</span>
        ) : (
          <span class="badge">{words.states[key.state]}</span>
        )}
      </div>
      {key.state === 'live' && (
        <div class="actions">
          <button type="button" aria-label={words.rollOf(key.name)} onClick={roll}>
            {words.roll}
          </button>
          <button
            type="button"
            class="danger"
            aria-label={words.revokeOf(key.name)}
            onClick={revoke}
          >
            {words.revoke}
          </button>
        </div>
      )}
      <dl class="details wide">
        <div>
          <dt>{words.key}</dt>
          <dd class="mono">{key.hint}…</dd>
        </div>
        <div>
          <dt>{words.created}</dt>
          <dd>
            <When at={key.created_at} />
          </dd>
        </div>
        <div>
          <dt>{key.revoked_at === null ? words.expires : words.revoked}</dt>
          <dd>
            <When at={key.revoked_at ?? key.expires_at} />
          </dd>
        </div>
        <div>
          <dt>{words.lastUsed}</dt>
          <dd>
            {key.last_used_at === null ? words.never : <When at={key.last_used_at} as="ago" />}
          </dd>
        </div>
      </dl>
    </li>
  )
}
