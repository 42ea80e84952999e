import type { EventKind } from '../../../../core/delivery/delivery.ts'
import { accountTexts } from '../../account-texts.ts'
import { getJson } from '../../data.ts'
import { Copy } from '../../parts/copy.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'

const { developers: words } = accountTexts.settings

type Catalogue = {
  readonly events: readonly {
    readonly kind: EventKind
    readonly is_urgent: boolean
    readonly example: object
    readonly schema: object
  }[]
}

/** Every kind of event, from the tables by which the product itself sends. */
export function EventCatalogue() {
  const answer = useAnswer((signal) => getJson<Catalogue>('/data/events', { signal }), [])
  return (
    <section class="stack" aria-labelledby="events">
      <h2 id="events">{words.events}</h2>
      <p class="muted">{words.eventsWords}</p>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      {answer.value?.events.map(({ kind, is_urgent: isUrgent, example, schema }) => (
        <details key={kind} id={kind} class="card developers-event">
          <summary>
            <code>{kind}</code> <span class="muted">{accountTexts.webhooks.kinds[kind]}</span>{' '}
            {isUrgent && <span class="badge">{words.urgent}</span>}
          </summary>
          <Json title={words.what} value={example} of={kind} />
          <Json title={words.schema} value={schema} of={kind} />
        </details>
      ))}
      <p class="muted">{words.tryIt}</p>
    </section>
  )
}

type JsonProps = { readonly title: string; readonly value: object; readonly of: string }

function Json({ title, value, of }: JsonProps) {
  const text = JSON.stringify(value, undefined, 2)
  return (
    <>
      <div class="row between">
        <h3>{title}</h3>
        <Copy text={text} />
      </div>
      <pre tabIndex={0} aria-label={`${title}: ${of}`}>
        <code>{text}</code>
      </pre>
    </>
  )
}
