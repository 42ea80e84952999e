import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import type { PageProps } from '../../../page.ts'
import { addressValue } from '../../../parts/address-state.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Filled } from '../../../parts/filled.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { When } from '../../../parts/time/when.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { texts } from '../../../texts.ts'
import { DeliveryView } from './delivery-view.tsx'
import { HealthView, useHealth } from './health-view.tsx'
import '../settings.css'
import { WebhookActions } from './webhook-actions.tsx'
import { showWebhook } from './webhook-data.ts'
import { WebhookLog } from './webhook-log.tsx'
import type { Webhook } from './webhook-types.ts'
import { webhookState, whyNotSending } from './webhook-words.ts'

const { webhooks: words } = accountTexts

/** One webhook and its log; `?delivery=` shows one delivery of it. */
export function WebhookPage({ params }: PageProps) {
  const id = params['id'] ?? ''
  const delivery = addressValue('delivery')
  const answer = useAnswer((signal) => showWebhook(id, signal), [id])
  const [changes, setChanges] = useState(0)
  const onChange = (): void => {
    answer.again()
    setChanges((count) => count + 1)
  }
  return (
    <div class="stack settings">
      <p>
        <a href={delivery === '' ? '/settings/webhooks' : `/settings/webhooks/${id}`}>
          {delivery === '' ? words.all : words.back}
        </a>
      </p>
      {delivery !== '' && <DeliveryView webhook={id} delivery={delivery} />}
      {delivery === '' && answer.error !== undefined && (
        <>
          <h1>{texts.common.titles.webhook}</h1>
          <Failed error={answer.error} retry={answer.again} />
        </>
      )}
      {delivery === '' && answer.value === undefined && answer.error === undefined && <Loading />}
      {delivery === '' && answer.value !== undefined && (
        <>
          <About webhook={answer.value} look={changes} />
          <WebhookActions webhook={answer.value} onChange={onChange} />
          <WebhookLog webhook={id} changes={changes} />
        </>
      )}
    </div>
  )
}

const About = ({ webhook, look }: { readonly webhook: Webhook; readonly look: number }) => {
  const health = useHealth(webhook.id, look)
  const { sensor_id, area, aqi_threshold } = webhook.filters
  const why = whyNotSending(webhook)
  const filters = [
    sensor_id === undefined ? '' : words.ofSensor(sensor_id),
    area === undefined ? '' : words.ofArea(area),
    aqi_threshold === undefined ? '' : words.above(aqi_threshold),
  ].filter((part) => part !== '')
  return (
    <>
      <div class="row">
        <h1>{webhook.description ?? texts.common.titles.webhook}</h1>
        <Badge of={webhookState(webhook, health.value?.state)} />
      </div>
      {why !== undefined && <p class="notice warn">{why}</p>}
      <section class="card" aria-label={words.health.title}>
        <HealthView answer={health} />
      </section>
      <dl class="facts card">
        <dt>{words.address}</dt>
        <dd class="mono">{webhook.url}</dd>
        <dt>{words.events}</dt>
        <dd>{webhook.events.join(', ')}</dd>
        <dt>{words.filters}</dt>
        <dd>{filters.length === 0 ? words.everything : filters.join(', ')}</dd>
        <dt>{words.id}</dt>
        <dd class="mono">{webhook.id}</dd>
        <dt>{words.created}</dt>
        <dd>
          <When at={webhook.created_at} />
        </dd>
        {webhook.previous_secret_until !== null && (
          <>
            <dt>{words.oldSecret}</dt>
            <dd>
              <Filled
                text={words.oldSecretUntil}
                parts={{ time: () => <When at={webhook.previous_secret_until ?? ''} /> }}
              />
            </dd>
          </>
        )}
      </dl>
    </>
  )
}
