import { useState } from 'preact/hooks'
import { getJson, sendJson } from '../../data.ts'
import { me } from '../../me.ts'
import { OperatorLink } from '../../parts/operator-link.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { AuditLog } from './audit-log.tsx'
import { browserWords } from './browser-words.ts'
import { Confirm } from './confirm.tsx'
import './settings.css'

type Session = {
  readonly id: string
  readonly created_at: string
  readonly seen_at: string
  /** The browser's user agent at sign-in. */
  readonly agent: string
  /** The network of the sign-in. */
  readonly address: string
  readonly is_current: boolean
}

export const AccountPage = () => (
  <div class="stack settings">
    <h1>Account</h1>
    <About />
    <Sessions />
    <AuditLog />
    <section class="card stack" aria-label="Your data">
      <h2>Your data</h2>
      <p class="muted">
        All your data as one JSON file; and the deletion of the account with its keys and webhooks.
      </p>
      <div class="actions">
        <a class="button" href="/account/export" download>
          Download everything
        </a>
        <a class="button danger" href="/account/delete">
          Delete the account
        </a>
      </div>
    </section>
  </div>
)

function About() {
  const account = me.value?.account
  if (!account) return null
  return (
    <section class="card stack" aria-label="Who you are">
      <dl class="facts">
        <dt>Name</dt>
        <dd>{account.name}</dd>
        {account.organization !== undefined && (
          <>
            <dt>Organisation</dt>
            <dd>{account.organization}</dd>
          </>
        )}
        <dt>Email</dt>
        <dd>{account.email}</dd>
        <dt>Tier</dt>
        <dd>
          {account.tier}
          {account.tier === 'free' && (
            <span class="muted">
              : 100 requests a day. Ask <OperatorLink /> to change it.
            </span>
          )}
        </dd>
        {account.role === 'operator' && (
          <>
            <dt>Role</dt>
            <dd>operator</dd>
          </>
        )}
      </dl>
      <div class="actions">
        <a class="button" href="/account/email">
          Change email
        </a>
        <a class="button" href="/account/password">
          Change password
        </a>
      </div>
    </section>
  )
}

function Sessions() {
  const answer = useAnswer(
    async (signal) =>
      (await getJson<{ sessions: readonly Session[] }>('/data/sessions', { signal })).sessions,
    [],
  )
  const [ending, setEnding] = useState<Session | 'others'>()
  const end = async (): Promise<void> => {
    const id = ending === 'others' ? '' : `/${encodeURIComponent(ending?.id ?? '')}`
    await sendJson('DELETE', `/data/sessions${id}`)
    answer.again()
  }
  const sessions = answer.value ?? []
  return (
    <section class="card stack" aria-label="Where you are signed in">
      <div class="row between">
        <h2>Where you are signed in</h2>
        {sessions.length > 1 && (
          <button type="button" onClick={() => setEnding('others')}>
            End all others
          </button>
        )}
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      <ul class="items">
        {sessions.map((session) => (
          <li key={session.id} class="item">
            <div>
              <b title={session.agent}>{browserWords(session.agent)}</b>{' '}
              {session.is_current && <span class="badge ok">this one</span>}
              <dl class="details">
                <div>
                  <dt>From</dt>
                  <dd class="mono">{session.address}</dd>
                </div>
                <div>
                  <dt>Signed in</dt>
                  <dd>
                    <When at={session.created_at} />
                  </dd>
                </div>
                <div>
                  <dt>Seen</dt>
                  <dd>
                    <When at={session.seen_at} as="ago" />
                  </dd>
                </div>
              </dl>
            </div>
            {!session.is_current && (
              <button
                type="button"
                aria-label={`End the session from ${session.address}`}
                onClick={() => setEnding(session)}
              >
                End
              </button>
            )}
          </li>
        ))}
      </ul>
      <Confirm
        title={ending === 'others' ? 'End all other sessions?' : 'End this session?'}
        label="End"
        isOpen={ending !== undefined}
        close={() => setEnding(undefined)}
        act={end}
      >
        <p>That browser has to sign in again.</p>
      </Confirm>
    </section>
  )
}
