import { useState } from 'preact/hooks'
import { me } from '../../me.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { OperatorLink } from '../../parts/operator-link.tsx'
import { Snippets } from '../../parts/snippets.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { When } from '../../parts/when.tsx'
import { go } from '../../router.ts'
import { Badge } from './badge.tsx'
import { Secret } from './secret.tsx'
import './settings.css'
import { VerifyHelp } from './verify-help.tsx'
import { createWebhook, listWebhooks } from './webhook-data.ts'
import { WebhookForm } from './webhook-form.tsx'
import type { Made, Webhook } from './webhook-types.ts'
import { webhookState, whyNotSending } from './webhook-words.ts'

export function WebhooksPage() {
  const answer = useAnswer(listWebhooks, [])
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Made>()
  const create = (
    <button type="button" class="primary" onClick={() => setMaking(true)}>
      New webhook
    </button>
  )
  const webhooks = answer.value ?? []
  const isPremium = me.value?.account.tier === 'premium'
  return (
    <div class="stack settings">
      <div class="row between">
        <h1>Webhooks</h1>
        {isPremium && webhooks.length > 0 && create}
      </div>
      <p class="muted">A webhook sends events to your address by a signed POST, within seconds.</p>
      {made !== undefined && !isMaking && (
        <div class="notice warn row between" role="status">
          <span>
            The secret of your new webhook is still here, until you say that it is stored.
          </span>
          <button type="button" onClick={() => setMaking(true)}>
            Show it again
          </button>
        </div>
      )}
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      {answer.value !== undefined && !isPremium && <PremiumOnly />}
      {answer.value !== undefined && isPremium && webhooks.length === 0 && (
        <Empty title="No webhook yet">
          <p>Name your address to receive a POST when the air gets bad or a sensor falls silent.</p>
          <div class="actions">{create}</div>
        </Empty>
      )}
      {webhooks.length > 0 && (
        <ul class="items">
          {webhooks.map((webhook) => (
            <Item key={webhook.id} of={webhook} />
          ))}
        </ul>
      )}
      <Dialog
        title={made === undefined ? 'New webhook' : 'Its signing secret'}
        isOpen={isMaking}
        close={() => setMaking(false)}
      >
        {made === undefined ? (
          <WebhookForm
            label="Create"
            save={async (wanted) => {
              setMade(await createWebhook(wanted))
              answer.again()
            }}
          />
        ) : (
          <Created
            made={made}
            done={() => {
              setMade(undefined)
              setMaking(false)
              go(`/settings/webhooks/${made.id}`)
            }}
          />
        )}
      </Dialog>
    </div>
  )
}

type CreatedProps = { readonly made: Made; readonly done: () => void }

const Created = ({ made, done }: CreatedProps) => (
  <div class="stack">
    <Secret text={made.secret} what="secret" />
    {!made.armed_now && (
      <p class="notice">
        The index of some sensor is above your threshold already: it is sent after it has fallen and
        risen again.
      </p>
    )}
    <VerifyHelp />
    <div class="actions">
      <button type="button" class="primary" onClick={done}>
        I have stored it
      </button>
    </div>
  </div>
)

const Item = ({ of: webhook }: { readonly of: Webhook }) => {
  const why = whyNotSending(webhook)
  return (
    <li class="card item">
      <div class="row">
        <h2>
          <a href={`/settings/webhooks/${webhook.id}`}>{webhook.description ?? webhook.url}</a>
        </h2>
        <Badge of={webhookState(webhook)} />
      </div>
      <dl class="details wide">
        {webhook.description !== null && (
          <div>
            <dt>Address</dt>
            <dd class="mono">{webhook.url}</dd>
          </div>
        )}
        <div>
          <dt>Events</dt>
          <dd>{webhook.events.join(', ')}</dd>
        </div>
        <div>
          <dt>Made</dt>
          <dd>
            <When at={webhook.created_at} />
          </dd>
        </div>
      </dl>
      {why !== undefined && <p class="wide muted">{why}</p>}
    </li>
  )
}

const PremiumOnly = () => (
  <Empty title="Webhooks belong to premium accounts">
    <p>
      With a webhook, your server receives a signed POST within seconds when the index of a sensor
      crosses a threshold, or when a sensor goes offline. Ask <OperatorLink /> to change your
      account. Until then, poll <code>/v1/sensors</code>:
    </p>
    <Snippets path="/v1/sensors?status=offline" />
  </Empty>
)
