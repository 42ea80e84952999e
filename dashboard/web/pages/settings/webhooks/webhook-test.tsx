import { useState } from 'preact/hooks'
import { type EventKind, eventKinds } from '../../../../../core/delivery/delivery.ts'
import { accountTexts } from '../../../account-texts.ts'
import { Select } from '../../../forms/select.tsx'
import { useAction } from '../../../forms/use-action.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Failed } from '../../../parts/states.tsx'
import { AttemptView } from './attempt-view.tsx'
import { testWebhook } from './webhook-data.ts'
import type { Attempt, Webhook } from './webhook-types.ts'
import { attemptWords } from './webhook-words.ts'

const { test: words } = accountTexts.webhooks

type TestProps = { readonly webhook: Webhook; readonly onChange: () => void }
type Tried = { readonly kind: EventKind; readonly attempt: Attempt }

/** Sends an example of one kind, or of each, whether or not the webhook wants it. */
export function WebhookTest({ webhook, onChange }: TestProps) {
  const [chosen, setChosen] = useState<EventKind | 'each'>(webhook.events[0] ?? 'aqi.high')
  const [tried, setTried] = useState<readonly Tried[]>([])
  const action = useAction()
  const kinds = chosen === 'each' ? eventKinds : [chosen]
  const send = (): Promise<boolean> =>
    action.run(async () => {
      const done: Tried[] = []
      setTried(done)
      try {
        for (const kind of kinds) {
          done.push({ kind, attempt: (await testWebhook(webhook.id, kind)).attempt })
          setTried([...done])
        }
      } finally {
        onChange()
      }
    })
  return (
    <div class="stack">
      <p>{words.intro}</p>
      <Select
        label={words.event}
        value={chosen}
        choices={[
          ...eventKinds.map((kind) => [kind, kind] as const),
          ['each', words.each] as const,
        ]}
        onValue={setChosen}
      />
      <div class="actions">
        <button type="button" class="primary" disabled={action.isBusy} onClick={() => void send()}>
          {action.isBusy ? words.waiting : words.send}
        </button>
        <a class="button" href="/developers#events">
          {words.catalogue}
        </a>
      </div>
      {action.error !== undefined && <Failed error={action.error} />}
      <div role="status" class="stack">
        {tried.length === 1 && tried[0] !== undefined && <AttemptView attempt={tried[0].attempt} />}
        {tried.length > 1 &&
          tried.map(({ kind, attempt }) => (
            <details key={kind}>
              <summary>
                <code>{kind}</code> <Badge of={attemptWords(attempt)} />{' '}
                {attempt.response?.status ?? attempt.error}
              </summary>
              <AttemptView attempt={attempt} />
            </details>
          ))}
      </div>
    </div>
  )
}
