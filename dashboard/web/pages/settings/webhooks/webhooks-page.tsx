import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { ClosedSecret } from '../../../forms/closed-secret.tsx'
import { Secret } from '../../../forms/secret.tsx'
import { me } from '../../../me.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Filled } from '../../../parts/filled.tsx'
import { OperatorLink } from '../../../parts/operator-link.tsx'
import { Snippets } from '../../../parts/snippets.tsx'
import { Empty, Failed, Loading } from '../../../parts/states.tsx'
import { When } from '../../../parts/time/when.tsx'
import { type Answer, useAnswer } from '../../../parts/use-answer.ts'
import { go } from '../../../router.ts'
import { texts } from '../../../texts.ts'
import { HealthView, useHealth } from './health-view.tsx'
import '../settings.css'
import { VerifyHelp } from './verify-help.tsx'
import { createWebhook, listWebhooks } from './webhook-data.ts'
import { WebhookForm } from './webhook-form.tsx'
import type { Health } from './webhook-health.ts'
import type { Made, Webhook } from './webhook-types.ts'
import { webhookState, whyNotSending } from './webhook-words.ts'

const { webhooks: words, settings } = accountTexts
const { forms } = settings

export function WebhooksPage() {
  const answer = useAnswer(listWebhooks, [])
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Made>()
  const create = (
    <button type="button" class="primary" onClick={() => setMaking(true)}>
      {words.create}
    </button>
  )
  const webhooks = answer.value ?? []
  const isPremium = me.value?.account.tier === 'premium'
  return (
    <div class="stack settings">
      <div class="row between">
        <h1>{texts.common.settingsTabs.webhooks}</h1>
        {isPremium && webhooks.length > 0 && create}
      </div>
      <p class="muted">{words.intro}</p>
      {made !== undefined && !isMaking && (
        <ClosedSecret
          words={words.kept}
          show={() => setMaking(true)}
          forget={() => setMade(undefined)}
        />
      )}
      {answer.error !== undefined && <Failed error={answer.error} retry={answer.again} />}
      {answer.value === undefined && answer.error === undefined && <Loading />}
      {answer.value !== undefined && !isPremium && <PremiumOnly />}
      {answer.value !== undefined && isPremium && webhooks.length === 0 && (
        <Empty title={words.noneTitle}>
          <p>{words.none}</p>
          <div class="actions">{create}</div>
        </Empty>
      )}
      {webhooks.length > 0 && (
        <ul class="items">
          {webhooks.map((webhook, place) =>
            place < mostLooked ? (
              <LookedItem key={webhook.id} of={webhook} />
            ) : (
              <Item key={webhook.id} of={webhook} />
            ),
          )}
        </ul>
      )}
      <Dialog
        title={made === undefined ? words.create : words.secret}
        isOpen={isMaking}
        close={() => setMaking(false)}
      >
        {made === undefined ? (
          <WebhookForm
            label={words.createIt}
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
    {!made.armed_now && <p class="notice">{words.armedLater}</p>}
    <VerifyHelp />
    <div class="actions">
      <button type="button" class="primary" onClick={done}>
        {forms.stored}
      </button>
    </div>
  </div>
)

/** Webhooks whose newest attempts are asked for at once; that of others is on their page. */
const mostLooked = 30

type ItemProps = { readonly of: Webhook; readonly health?: Answer<Health> }

const LookedItem = ({ of: webhook }: ItemProps) => (
  <Item of={webhook} health={useHealth(webhook.id, 0)} />
)

const Item = ({ of: webhook, health }: ItemProps) => {
  const why = whyNotSending(webhook)
  return (
    <li class="card item">
      <div class="row">
        <h2>
          <a href={`/settings/webhooks/${webhook.id}`}>{webhook.description ?? webhook.url}</a>
        </h2>
        <Badge of={webhookState(webhook, health?.value?.state)} />
      </div>
      <dl class="details wide">
        {webhook.description !== null && (
          <div>
            <dt>{words.address}</dt>
            <dd class="mono">{webhook.url}</dd>
          </div>
        )}
        <div>
          <dt>{words.events}</dt>
          <dd>{webhook.events.join(', ')}</dd>
        </div>
        <div>
          <dt>{words.created}</dt>
          <dd>
            <When at={webhook.created_at} />
          </dd>
        </div>
      </dl>
      {health !== undefined && <HealthView answer={health} />}
      {why !== undefined && <p class="wide muted">{why}</p>}
      <div class="actions wide">
        <a
          class="button"
          href={`/settings/webhooks/${webhook.id}?test=1`}
          aria-label={words.actions.testOf(webhook.description ?? webhook.url)}
        >
          {words.actions.test}
        </a>
      </div>
    </li>
  )
}

const PremiumOnly = () => (
  <Empty title={words.premiumTitle}>
    <p>
      <Filled
        text={words.premium}
        parts={{ operator: () => <OperatorLink />, sensors: () => <code>/v1/sensors</code> }}
      />
    </p>
    <Snippets path="/v1/sensors?status=offline" />
  </Empty>
)
