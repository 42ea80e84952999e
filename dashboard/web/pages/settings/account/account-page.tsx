import { useState } from 'preact/hooks'
import { browserWords } from '../../../../browser-words.ts'
import { accountTexts } from '../../../account-texts.ts'
import { getJson, sendJson } from '../../../data.ts'
import { Confirm } from '../../../forms/confirm.tsx'
import { me } from '../../../me.ts'
import { Filled } from '../../../parts/filled.tsx'
import { OperatorLink } from '../../../parts/operator-link.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { When } from '../../../parts/time/when.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { texts } from '../../../texts.ts'
import { AuditLog } from './audit-log.tsx'
import '../settings.css'

const { account: words } = accountTexts.settings

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
    <h1>{texts.common.settingsTabs.account}</h1>
    <About />
    <Sessions />
    <AuditLog />
    <section class="card stack" aria-label={words.data}>
      <h2>{words.data}</h2>
      <p class="muted">{words.dataWords}</p>
      <div class="actions">
        <a class="button" href="/account/export" download>
          {words.download}
        </a>
        <a class="button danger" href="/account/delete">
          {words.delete}
        </a>
      </div>
    </section>
  </div>
)

function About() {
  const account = me.value?.account
  if (!account) return null
  return (
    <section class="card stack" aria-label={words.about}>
      <dl class="facts">
        <dt>{words.name}</dt>
        <dd>{account.name}</dd>
        {account.organization !== undefined && (
          <>
            <dt>{words.organization}</dt>
            <dd>{account.organization}</dd>
          </>
        )}
        <dt>{words.email}</dt>
        <dd>{account.email}</dd>
        <dt>{words.tier}</dt>
        <dd>
          {words.tiers[account.tier]}
          {account.tier === 'free' && (
            <span class="muted">
              {' · '}
              <Filled text={words.freeWords} parts={{ operator: () => <OperatorLink /> }} />
            </span>
          )}
        </dd>
        {account.role === 'operator' && (
          <>
            <dt>{words.role}</dt>
            <dd>{words.roles.operator}</dd>
          </>
        )}
      </dl>
      <div class="actions">
        <a class="button" href="/account/email">
          {words.changeEmail}
        </a>
        <a class="button" href="/account/password">
          {words.changePassword}
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
    <section class="card stack" aria-label={words.devices}>
      <div class="row between">
        <h2>{words.devices}</h2>
        {sessions.length > 1 && (
          <button type="button" onClick={() => setEnding('others')}>
            {words.endOthers}
          </button>
        )}
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      <ul class="items">
        {sessions.map((session) => (
          <li key={session.id} class="item">
            <div>
              <b title={session.agent}>{browserWords(session.agent, texts.common)}</b>{' '}
              {session.is_current && <span class="badge ok">{words.thisDevice}</span>}
              <dl class="details">
                <div>
                  <dt>{words.from}</dt>
                  <dd class="mono">{session.address}</dd>
                </div>
                <div>
                  <dt>{words.signedIn}</dt>
                  <dd>
                    <When at={session.created_at} />
                  </dd>
                </div>
                <div>
                  <dt>{words.lastActive}</dt>
                  <dd>
                    <When at={session.seen_at} as="ago" />
                  </dd>
                </div>
              </dl>
            </div>
            {!session.is_current && (
              <button
                type="button"
                aria-label={words.endOf(session.address)}
                onClick={() => setEnding(session)}
              >
                {words.end}
              </button>
            )}
          </li>
        ))}
      </ul>
      <Confirm
        title={ending === 'others' ? words.endOthersTitle : words.endTitle}
        label={words.end}
        isOpen={ending !== undefined}
        close={() => setEnding(undefined)}
        act={end}
      >
        <p>{ending === 'others' ? words.endOthersWords : words.endWords}</p>
      </Confirm>
    </section>
  )
}
