import { useState } from 'preact/hooks'
import type { EventKind } from '../../../../core/delivery/delivery.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed } from '../../parts/states.tsx'
import { go } from '../../router.ts'
import { AttemptView } from './attempt-view.tsx'
import { Confirm } from './confirm.tsx'
import { Choice, Field } from './field.tsx'
import { Secret } from './secret.tsx'
import { useAction } from './use-action.ts'
import { VerifyHelp } from './verify-help.tsx'
import {
  changeWebhook,
  deleteWebhook,
  recoverSince,
  rotateSecret,
  switchWebhook,
  testWebhook,
} from './webhook-data.ts'
import { WebhookForm } from './webhook-form.tsx'
import type { Attempt, Webhook } from './webhook-types.ts'

type ActionsProps = { readonly webhook: Webhook; readonly onChange: () => void }
type Open = 'test' | 'change' | 'rotate' | 'recover' | 'delete'

/** The actions on a webhook; each in a dialog of its own, except pausing. */
export function WebhookActions({ webhook, onChange }: ActionsProps) {
  const [open, setOpen] = useState<Open>()
  const close = (): void => setOpen(undefined)
  const switching = useAction()
  const isSending = webhook.active && !webhook.paused && webhook.disabled === null
  const flip = (): Promise<boolean> =>
    switching.run(async () => {
      await switchWebhook(webhook.id, isSending ? 'pause' : 'resume')
      onChange()
    })
  return (
    <>
      <div class="actions">
        <button type="button" class="primary" onClick={() => setOpen('test')}>
          Send a test
        </button>
        <button type="button" disabled={switching.isBusy} onClick={() => void flip()}>
          {isSending ? 'Pause' : 'Resume'}
        </button>
        <button type="button" onClick={() => setOpen('change')}>
          Change
        </button>
        <button type="button" onClick={() => setOpen('rotate')}>
          New secret
        </button>
        <button type="button" onClick={() => setOpen('recover')}>
          Send again since…
        </button>
        <button type="button" class="danger" onClick={() => setOpen('delete')}>
          Delete
        </button>
      </div>
      {switching.error !== undefined && <Failed error={switching.error} />}
      <Dialog title="Send a test" isOpen={open === 'test'} close={close}>
        <Test webhook={webhook} onChange={onChange} />
      </Dialog>
      <Dialog title="Change the webhook" isOpen={open === 'change'} close={close}>
        <WebhookForm
          webhook={webhook}
          label="Save"
          save={async (wanted) => {
            await changeWebhook(webhook.id, wanted)
            onChange()
            close()
          }}
        />
      </Dialog>
      <Dialog title="A new secret" isOpen={open === 'rotate'} close={close}>
        <Rotate webhook={webhook} onChange={onChange} close={close} />
      </Dialog>
      <Dialog title="Send again since…" isOpen={open === 'recover'} close={close}>
        <Recover webhook={webhook} onChange={onChange} close={close} />
      </Dialog>
      <Confirm
        title="Delete this webhook?"
        label="Delete it"
        isOpen={open === 'delete'}
        close={close}
        act={async () => {
          await deleteWebhook(webhook.id)
          go('/settings/webhooks')
        }}
      >
        <p>What waits for it is dropped, and its log goes with it.</p>
      </Confirm>
    </>
  )
}

function Test({ webhook, onChange }: ActionsProps) {
  const [event, setEvent] = useState<EventKind>(webhook.events[0] ?? 'aqi.high')
  const [attempt, setAttempt] = useState<Attempt>()
  const action = useAction()
  const send = (): Promise<boolean> =>
    action.run(async () => {
      setAttempt(undefined)
      setAttempt((await testWebhook(webhook.id, event)).attempt)
      onChange()
    })
  return (
    <div class="stack">
      <p>An example goes to the address now, signed like any other.</p>
      <Choice
        label="Event"
        value={event}
        choices={webhook.events.map((kind) => [kind, kind] as const)}
        onValue={setEvent}
      />
      <div class="actions">
        <button type="button" class="primary" disabled={action.isBusy} onClick={() => void send()}>
          {action.isBusy ? 'Waiting for the answer…' : 'Send it'}
        </button>
      </div>
      {action.error !== undefined && <Failed error={action.error} />}
      <div role="status">{attempt !== undefined && <AttemptView attempt={attempt} />}</div>
    </div>
  )
}

type ClosingProps = ActionsProps & { readonly close: () => void }

const overlaps = [
  ['86400', 'a day'],
  ['3600', 'an hour'],
  ['604800', 'seven days'],
  ['0', 'not at all: it leaked'],
] as const

function Rotate({ webhook, onChange, close }: ClosingProps) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number][0]>('86400')
  const [secret, setSecret] = useState<string>()
  const action = useAction()
  if (secret !== undefined) {
    return (
      <div class="stack">
        <Secret text={secret} what="secret" />
        <VerifyHelp />
        <div class="actions">
          <button type="button" class="primary" onClick={close}>
            I have stored it
          </button>
        </div>
      </div>
    )
  }
  return (
    <div class="stack">
      <Choice
        label="The old secret goes on signing for"
        value={overlap}
        choices={overlaps}
        onValue={setOverlap}
      />
      <p class="hint">
        Meanwhile the old one signs <code>X-Service-Signature</code>, the new one{' '}
        <code>X-Service-Signature-Next</code>.
      </p>
      {action.error !== undefined && <Failed error={action.error} />}
      <div class="actions">
        <button
          type="button"
          class="primary"
          disabled={action.isBusy}
          onClick={() =>
            void action.run(async () => {
              setSecret((await rotateSecret(webhook.id, Number(overlap))).secret)
              onChange()
            })
          }
        >
          Make a new secret
        </button>
      </div>
    </div>
  )
}

function Recover({ webhook, onChange, close }: ClosingProps) {
  const [since, setSince] = useState('')
  const action = useAction()
  const sinceMs = Date.parse(since)
  const send = (): Promise<boolean> =>
    action.run(async () => {
      await recoverSince(webhook.id, new Date(sinceMs).toISOString())
      onChange()
      close()
    })
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <p>
        Everything that happened since then and that it wants is sent again, with the same ids: a
        receiver that remembers ids drops what it has.
      </p>
      <Field
        label="Since (your time)"
        hint="Events are kept for 30 days"
        value={since}
        onValue={setSince}
        input={{ type: 'datetime-local', required: true }}
      />
      {action.error !== undefined && <Failed error={action.error} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy || Number.isNaN(sinceMs)}>
          Send again
        </button>
      </div>
    </form>
  )
}
