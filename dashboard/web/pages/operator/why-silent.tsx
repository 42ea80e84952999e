import { graceMsOf } from '../../../../core/state/presence.ts'
import { secondMs } from '../../../../core/time.ts'
import type { SensorSilence } from '../../../../operate/sensor-access.ts'
import { accountTexts } from '../../account-texts.ts'
import { getJson } from '../../data.ts'
import { Copy } from '../../parts/copy.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { serverMs } from '../../parts/time/clock.ts'
import { localTime } from '../../parts/time/local-time.ts'
import { When } from '../../parts/time/when.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { format } from '../../texts.ts'
import type { Sensor } from './operator-data.ts'
import { adviceWords, reasonWords } from './rejected-words.ts'

const { silence: words } = accountTexts.operator

/** By its last reading too: where nothing of ours runs, no state changes. */
export const seemsSilent = ({
  state,
  last_reading: last,
  cadence_seconds: cadence,
}: Sensor): boolean =>
  state !== 'online' ||
  (last !== null && serverMs() - Date.parse(last) > graceMsOf(cadence * secondMs))

/** Why a sensor does not report, what to do, and what that was decided from. */
export function WhySilent({ id }: { readonly id: string }) {
  const path = `/operator/api/sensors/${encodeURIComponent(id)}/silence`
  const { value, error, again } = useAnswer(
    async (signal) => await getJson<{ readonly silence: SensorSilence | null }>(path, { signal }),
    [path],
  )
  if (error !== undefined) return <Failed error={error} retry={again} />
  if (value === undefined) return <Loading what={words.looking} />
  if (value.silence === null) return <p class="notice ok">{words.reports}</p>
  const { reason } = value.silence
  const [why, fix] = wordsOf(reason)
  const command = isOfKey(reason) ? `airproof sensors key ${id}` : commandOf(reason, id)
  return (
    <section class="notice warn stack" aria-labelledby="why-silent">
      <h3 id="why-silent">{words.title}</h3>
      <p>
        <strong>{why}</strong> {fix}
      </p>
      {reason.kind === 'rejected' && (
        <p>
          <a href={`/operator?show=rejected&sensor=${encodeURIComponent(id)}`}>
            {words.seeRefused}
          </a>
        </p>
      )}
      <p class="row">
        {words.command} <code>{command}</code> <Copy text={command} />
      </p>
      <Facts silence={value.silence} />
    </section>
  )
}

type Reason = SensorSilence['reason']

const isOfKey = ({ kind }: Reason): boolean =>
  kind === 'revoked' || kind === 'no_key' || kind === 'replaced' || kind === 'sign_in'

const commandOf = ({ kind }: Reason, id: string): string =>
  kind === 'outage' ? 'airproof doctor' : `airproof sensors show ${id}`

/** The reason, and what to do. */
function wordsOf(reason: Reason): readonly [string, string] {
  const { reasons, fixes, signIn } = words
  switch (reason.kind) {
    case 'sign_in':
      return [
        reasons.sign_in(localTime(reason.atMs), wordsIn(signIn, reason.reason)),
        fixes.sign_in,
      ]
    case 'rejected':
      return [
        reasons.rejected(localTime(reason.atMs), reasonWords(reason.reason)),
        adviceWords(reason.reason),
      ]
    case 'outage':
      return [
        reasons.outage(format.number(reason.silent), format.number(reason.of), reason.place),
        fixes.outage,
      ]
    case 'replaced':
      return [reasons.replaced(localTime(reason.keyMs), localTime(reason.atMs)), fixes.replaced]
    case 'paused':
      return [reasons.paused(localTime(reason.untilMs)), fixes.paused]
    case 'revoked':
      return [reasons.revoked, fixes.revoked]
    case 'retired':
    case 'restarted':
    case 'denied':
    case 'silent':
      return [reasons[reason.kind](localTime(reason.atMs)), fixes[reason.kind]]
    case 'no_key':
    case 'connected':
    case 'never':
      return [reasons[reason.kind], fixes[reason.kind]]
  }
}

const wordsIn = (table: Readonly<Record<string, string>>, name: string): string =>
  table[name] ?? name

/** What is known, with addresses: only operators see it. */
function Facts({ silence: { access, connections } }: { readonly silence: SensorSilence }) {
  if (access === null) return <p>{words.noGate}</p>
  const { heard, left, refused } = access.seen
  const open = connections?.[0]
  return (
    <dl class="facts">
      <dt>{words.facts.key}</dt>
      <dd>
        {words.keys[access.key]}
        {access.key_at !== undefined && (
          <>
            {' '}
            (<When at={access.key_at} />)
          </>
        )}
      </dd>
      <dt>{words.facts.connection}</dt>
      <dd>
        {open === undefined ? (
          words.notConnected
        ) : (
          <>
            {open.protocol}, {open.address}, <When at={open.since} />
          </>
        )}
      </dd>
      <dt>{words.facts.contact}</dt>
      <dd>
        {heard === undefined ? (
          words.neverThere
        ) : (
          <>
            <When at={heard.at} />: {heard.protocol}, {heard.address}{' '}
            {heard.client !== undefined && <bdi>({heard.client})</bdi>}
          </>
        )}
      </dd>
      {left !== undefined && (
        <>
          <dt>{words.facts.left}</dt>
          <dd>
            <When at={left.at} />: {left.reason}
          </dd>
        </>
      )}
      {refused !== undefined && (
        <>
          <dt>{words.facts.refused}</dt>
          <dd>
            {format.number(refused.count)}; <When at={refused.at} />:{' '}
            {wordsIn(words.signIn, refused.reason)}
          </dd>
        </>
      )}
    </dl>
  )
}
