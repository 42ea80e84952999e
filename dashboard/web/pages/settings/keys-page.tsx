import { useState } from 'preact/hooks'
import { getJson, sendJson } from '../../data.ts'
import { Snippets } from '../../parts/snippets.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { Confirm } from './confirm.tsx'
import { daysLeft } from './days-left.ts'
import { type Key, type MadeKey, NewKey } from './new-key.tsx'
import './settings.css'

type Keys = { readonly limit: number; readonly keys: readonly Key[] }

export function KeysPage() {
  const { value, error, again } = useAnswer((signal) => getJson<Keys>('/data/keys', { signal }), [])
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<MadeKey>()
  const [revoking, setRevoking] = useState<Key>()
  const generate = (
    <button type="button" class="primary" onClick={() => setMaking(true)}>
      Generate new key
    </button>
  )
  const keys = value?.keys ?? []
  return (
    <div class="stack settings">
      <div class="row between">
        <h1>API keys</h1>
        {keys.length > 0 && generate}
      </div>
      <p class="muted">
        A program that asks <code>/v1</code> sends a key with every request. A key lives 90 days;
        make the next one before the last day, and both work until then.
      </p>
      {made !== undefined && !isMaking && (
        <div class="notice warn row between" role="status">
          <span>
            Your new key “{made.record.name}” is still here, until you say that it is stored.
          </span>
          <button type="button" onClick={() => setMaking(true)}>
            Show it again
          </button>
        </div>
      )}
      {error !== undefined && <Failed error={error} retry={again} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && keys.length === 0 && (
        <Empty title="No key yet">
          <p>Make one, and ask for the air of the city with it:</p>
          <div class="actions">{generate}</div>
          <Snippets path="/v1/sensors?limit=5" />
        </Empty>
      )}
      {keys.length > 0 && (
        <ul class="items">
          {keys.map((key) => (
            <KeyItem key={key.id} of={key} revoke={() => setRevoking(key)} />
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
      <Confirm
        title="Revoke this key?"
        label="Revoke it"
        isOpen={revoking !== undefined}
        close={() => setRevoking(undefined)}
        act={async () => {
          await sendJson('DELETE', `/data/keys/${encodeURIComponent(revoking?.id ?? '')}`)
          again()
        }}
      >
        <p>
          <b>{revoking?.name}</b> (<code>{revoking?.hint}…</code>) stops working everywhere within a
          second. That cannot be taken back.
        </p>
      </Confirm>
    </div>
  )
}

type ItemProps = { readonly of: Key; readonly revoke: () => void }

function KeyItem({ of: key, revoke }: ItemProps) {
  const { words, isSoon } = daysLeft(key.expires_at, Date.now())
  return (
    <li class="card item">
      <div class="row">
        <h2>{key.name}</h2>
        {key.state === 'live' ? (
          <span class={`badge ${isSoon ? 'warn' : 'ok'}`}>{words}</span>
        ) : (
          <span class="badge">{key.state}</span>
        )}
      </div>
      {key.state === 'live' && (
        <button type="button" class="danger" aria-label={`Revoke ${key.name}`} onClick={revoke}>
          Revoke
        </button>
      )}
      <dl class="details wide">
        <div>
          <dt>Key</dt>
          <dd class="mono">{key.hint}…</dd>
        </div>
        <div>
          <dt>Made</dt>
          <dd>
            <When at={key.created_at} />
          </dd>
        </div>
        <div>
          <dt>{key.revoked_at === null ? 'Expires' : 'Revoked'}</dt>
          <dd>
            <When at={key.revoked_at ?? key.expires_at} />
          </dd>
        </div>
        <div>
          <dt>Last used</dt>
          <dd>{key.last_used_at === null ? 'never' : <When at={key.last_used_at} as="ago" />}</dd>
        </div>
      </dl>
    </li>
  )
}
