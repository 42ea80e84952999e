import { useState } from 'preact/hooks'
import type { PageProps } from '../../page.ts'
import { Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { Badge } from './badge.tsx'
import { DeliveryView } from './delivery-view.tsx'
import './settings.css'
import { WebhookActions } from './webhook-actions.tsx'
import { showWebhook } from './webhook-data.ts'
import { WebhookLog } from './webhook-log.tsx'
import type { Webhook } from './webhook-types.ts'
import { webhookState, whyNotSending } from './webhook-words.ts'

/** One webhook and its log; `?delivery=` shows one delivery of it. */
export function WebhookPage({ params, query }: PageProps) {
  const id = params['id'] ?? ''
  const delivery = query.get('delivery')
  const answer = useAnswer((signal) => showWebhook(id, signal), [id])
  const [changes, setChanges] = useState(0)
  const onChange = (): void => {
    answer.again()
    setChanges((count) => count + 1)
  }
  return (
    <div class="stack settings">
      <p>
        <a href={delivery === null ? '/settings/webhooks' : `/settings/webhooks/${id}`}>
          {delivery === null ? '← All webhooks' : '← The webhook'}
        </a>
      </p>
      {delivery !== null && <DeliveryView webhook={id} delivery={delivery} />}
      {delivery === null && answer.error !== undefined && (
        <>
          <h1>Webhook</h1>
          <Failed error={answer.error} retry={answer.again} />
        </>
      )}
      {delivery === null && answer.value === undefined && answer.error === undefined && <Loading />}
      {delivery === null && answer.value !== undefined && (
        <>
          <About webhook={answer.value} />
          <WebhookActions webhook={answer.value} onChange={onChange} />
          <WebhookLog webhook={id} changes={changes} />
        </>
      )}
    </div>
  )
}

const About = ({ webhook }: { readonly webhook: Webhook }) => {
  const { sensor_id, area, aqi_threshold } = webhook.filters
  const why = whyNotSending(webhook)
  const filters = [
    sensor_id === undefined ? '' : `sensor ${sensor_id}`,
    area === undefined ? '' : `area ${area}`,
    aqi_threshold === undefined ? '' : `threshold ${aqi_threshold}`,
  ].filter((part) => part !== '')
  return (
    <>
      <div class="row">
        <h1>{webhook.description ?? 'Webhook'}</h1>
        <Badge of={webhookState(webhook)} />
      </div>
      {why !== undefined && <p class="notice warn">{why}</p>}
      <dl class="facts card">
        <dt>Address</dt>
        <dd class="mono">{webhook.url}</dd>
        <dt>Events</dt>
        <dd>{webhook.events.join(', ')}</dd>
        <dt>Only about</dt>
        <dd>{filters.length === 0 ? 'everything' : filters.join(', ')}</dd>
        <dt>Id</dt>
        <dd class="mono">{webhook.id}</dd>
        <dt>Made</dt>
        <dd>
          <When at={webhook.created_at} />
        </dd>
        {webhook.previous_secret_until !== null && (
          <>
            <dt>Old secret</dt>
            <dd>
              signs too until <When at={webhook.previous_secret_until} />
            </dd>
          </>
        )}
      </dl>
    </>
  )
}
