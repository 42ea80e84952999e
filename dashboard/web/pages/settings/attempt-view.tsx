import { When } from '../../parts/when.tsx'
import { Badge } from './badge.tsx'
import type { Attempt } from './webhook-types.ts'
import { attemptWords, errorWords } from './webhook-words.ts'

/** One POST and its answer. Bodies are others’ words: shown only as text. */
export const AttemptView = ({ attempt }: { readonly attempt: Attempt }) => {
  const { request, response, timings_ms: timings } = attempt
  return (
    <article class="stack attempt">
      <div class="row">
        <h3>
          Attempt {attempt.attempt}
          {attempt.trigger !== 'event' && ` (${attempt.trigger})`}
        </h3>
        <Badge of={attemptWords(attempt)} />
      </div>
      <dl class="facts">
        <dt>Sent</dt>
        <dd>
          <When at={attempt.at} />
        </dd>
        <dt>Answer</dt>
        <dd>{response === null ? 'none' : `HTTP ${response.status}`}</dd>
        {attempt.error !== null && (
          <>
            <dt>Why it failed</dt>
            <dd>
              {errorWords(attempt.error)} <span class="muted">({attempt.error})</span>
              {attempt.error_detail !== null && `: ${attempt.error_detail}`}
            </dd>
          </>
        )}
        {attempt.next_attempt_at !== null && attempt.trigger !== 'test' && (
          <>
            <dt>Next</dt>
            <dd>
              <When at={attempt.next_attempt_at} />
            </dd>
          </>
        )}
        <dt>Took</dt>
        <dd>
          <Timing ms={timings.total} /> (name <Timing ms={timings.resolve} />, connection{' '}
          <Timing ms={timings.connect} />, first byte <Timing ms={timings.first_byte} />)
        </dd>
        <dt>To</dt>
        <dd class="mono">
          {request.url} {request.address !== null && `(${request.address})`}
        </dd>
      </dl>
      <details>
        <summary>Request</summary>
        <Raw label="Request" headers={request.headers} body={request.body} />
      </details>
      {response !== null && (
        <details>
          <summary>Response</summary>
          <Raw label="Response" headers={response.headers} body={response.body} />
          {response.body_encoding === 'base64' && (
            <p class="hint">The body is not text: base 64.</p>
          )}
          {response.truncated && <p class="hint">Only the first 8 KiB are kept.</p>}
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
    {body === '' ? '(no body)' : body}
  </pre>
)

const Timing = ({ ms }: { readonly ms: number | null }) => (
  <span class="number">{ms === null ? '–' : `${Math.round(ms)} ms`}</span>
)
