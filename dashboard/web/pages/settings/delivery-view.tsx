import { Failed, Loading } from '../../parts/states.tsx'
import { useAsked } from '../../parts/use-asked.ts'
import { When } from '../../parts/when.tsx'
import { AttemptView } from './attempt-view.tsx'
import { Badge } from './badge.tsx'
import { useAction } from './use-action.ts'
import { replayDelivery, showDelivery } from './webhook-data.ts'
import { deliveryWords } from './webhook-words.ts'

type DeliveryProps = {
  readonly webhook: string
  /** Its id or key. */
  readonly delivery: string
}

/** One event for one webhook, with every attempt that is kept. */
export function DeliveryView({ webhook, delivery }: DeliveryProps) {
  const asked = useAsked((signal) => showDelivery(webhook, delivery, signal), [webhook, delivery])
  const action = useAction()
  const replay = (): Promise<boolean> =>
    action.run(async () => {
      await replayDelivery(webhook, delivery)
      asked.again()
    })
  const found = asked.value
  const [newest] = found?.attempts ?? []
  const isTest = newest?.trigger === 'test'
  return (
    <>
      <div class="row">
        <h1>Delivery</h1>
        {found !== undefined && !isTest && <Badge of={deliveryWords[found.state]} />}
        {isTest && <span class="badge">a test</span>}
      </div>
      {asked.error !== undefined && <Failed error={asked.error} retry={asked.again} />}
      {found === undefined && asked.error === undefined && <Loading />}
      {found !== undefined && (
        <div class="card stack">
          <dl class="facts">
            <dt>Event</dt>
            <dd>{found.event}</dd>
            <dt>
              <code>webhook-id</code>
            </dt>
            <dd class="mono">{found.id ?? 'not known any more'}</dd>
            {found.due_at !== null && (
              <>
                <dt>Next attempt</dt>
                <dd>
                  <When at={found.due_at} />
                </dd>
              </>
            )}
          </dl>
          <div class="actions">
            {!isTest && (
              <button type="button" disabled={action.isBusy} onClick={() => void replay()}>
                Send it again
              </button>
            )}
            <button type="button" class="quiet" onClick={asked.again}>
              Look again
            </button>
          </div>
          {action.error !== undefined && <Failed error={action.error} />}
          {found.attempts.length === 0 && <p class="muted">No attempt of it is kept.</p>}
          {found.attempts.map((attempt) => (
            <AttemptView key={`${attempt.at} ${attempt.attempt}`} attempt={attempt} />
          ))}
        </div>
      )}
    </>
  )
}
