import { accountTexts } from '../../../account-texts.ts'
import { useAction } from '../../../forms/use-action.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { When } from '../../../parts/time/when.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { AttemptView } from './attempt-view.tsx'
import { replayDelivery, showDelivery } from './webhook-data.ts'
import { deliveryWords } from './webhook-words.ts'

const { delivery: words } = accountTexts.webhooks

type DeliveryProps = {
  readonly webhook: string
  /** Its id or key. */
  readonly delivery: string
}

/** One event for one webhook, with every stored attempt. */
export function DeliveryView({ webhook, delivery }: DeliveryProps) {
  const answer = useAnswer((signal) => showDelivery(webhook, delivery, signal), [webhook, delivery])
  const action = useAction()
  const replay = (): Promise<boolean> =>
    action.run(async () => {
      await replayDelivery(webhook, delivery)
      answer.again()
    })
  const delivered = answer.value
  const [newest] = delivered?.attempts ?? []
  const isTest = newest?.trigger === 'test'
  return (
    <>
      <div class="row">
        <h1>{words.title}</h1>
        {delivered !== undefined && !isTest && <Badge of={deliveryWords[delivered.state]} />}
        {isTest && <span class="badge">{words.test}</span>}
      </div>
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {delivered === undefined && answer.error === undefined && <Loading />}
      {delivered !== undefined && (
        <div class="card stack">
          <dl class="facts">
            <dt>{words.event}</dt>
            <dd>{delivered.event}</dd>
            <dt>
              <code>webhook-id</code>
            </dt>
            <dd class="mono">{delivered.id ?? words.unknownId}</dd>
            {delivered.due_at !== null && (
              <>
                <dt>{words.next}</dt>
                <dd>
                  <When at={delivered.due_at} />
                </dd>
              </>
            )}
          </dl>
          <div class="actions">
            {!isTest && (
              <button type="button" disabled={action.isBusy} onClick={() => void replay()}>
                {words.again}
              </button>
            )}
            <button type="button" class="quiet" onClick={answer.again}>
              {accountTexts.settings.usage.refresh}
            </button>
          </div>
          {action.error !== undefined && <Failed error={action.error} />}
          {delivered.attempts.length === 0 && <p class="muted">{words.none}</p>}
          {delivered.attempts.map((attempt) => (
            <AttemptView key={`${attempt.at} ${attempt.attempt}`} attempt={attempt} />
          ))}
        </div>
      )}
    </>
  )
}
