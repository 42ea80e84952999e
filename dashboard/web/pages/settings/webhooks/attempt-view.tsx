import { accountTexts } from '../../../account-texts.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Filled } from '../../../parts/filled.tsx'
import { When } from '../../../parts/time/when.tsx'
import { format } from '../../../texts.ts'
import type { Attempt } from './webhook-types.ts'
import { attemptWords, errorWords, triggerWords } from './webhook-words.ts'

const { attempt: words } = accountTexts.webhooks

/** One POST and its answer. Bodies are others’ words: shown only as text. */
export const AttemptView = ({ attempt }: { readonly attempt: Attempt }) => {
  const { request, response, timings_ms: timings } = attempt
  return (
    <article class="stack attempt">
      <div class="row">
        <h3>
          {attempt.trigger === 'event'
            ? words.title(attempt.attempt)
            : words.titleBy(attempt.attempt, triggerWords(attempt.trigger))}
        </h3>
        <Badge of={attemptWords(attempt)} />
      </div>
      <dl class="facts">
        <dt>{words.sent}</dt>
        <dd>
          <When at={attempt.at} />
        </dd>
        <dt>{words.answer}</dt>
        <dd>{response === null ? words.noAnswer : `HTTP ${response.status}`}</dd>
        {attempt.error !== null && (
          <>
            <dt>{words.why}</dt>
            <dd>
              {errorWords(attempt.error)} <span class="muted">({attempt.error})</span>
              {attempt.error_detail !== null && `: ${attempt.error_detail}`}
            </dd>
          </>
        )}
        {attempt.next_attempt_at !== null && attempt.trigger !== 'test' && (
          <>
            <dt>{words.next}</dt>
            <dd>
              <When at={attempt.next_attempt_at} />
            </dd>
          </>
        )}
        <dt>{words.took}</dt>
        <dd>
          <Filled
            text={words.timings}
            parts={{
              total: () => <Timing ms={timings.total} />,
              resolve: () => <Timing ms={timings.resolve} />,
              connect: () => <Timing ms={timings.connect} />,
              firstByte: () => <Timing ms={timings.first_byte} />,
            }}
          />
        </dd>
        <dt>{words.to}</dt>
        <dd class="mono">
          {request.url} {request.address !== null && `(${request.address})`}
        </dd>
      </dl>
      <details>
        <summary>{words.request}</summary>
        <Raw label={words.request} headers={request.headers} body={request.body} />
      </details>
      {response !== null && (
        <details>
          <summary>{words.response}</summary>
          <Raw label={words.response} headers={response.headers} body={response.body} />
          {response.body_encoding === 'base64' && <p class="hint">{words.base64}</p>}
          {response.truncated && <p class="hint">{words.cut}</p>}
        </details>
      )}
    </article>
  )
}

type RawProps = {
  readonly label: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

const Raw = ({ label, headers, body }: RawProps) => (
  <pre class="raw" tabIndex={0} aria-label={label}>
    {headers.map(([name, value]) => `${name}: ${value}\n`).join('')}
    {'\n'}
    {body === '' ? words.noBody : body}
  </pre>
)

const Timing = ({ ms }: { readonly ms: number | null }) => (
  <span class="number">{ms === null ? '–' : `${format.number(ms)} ms`}</span>
)
