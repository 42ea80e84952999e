import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { Confirm } from '../../../forms/confirm.tsx'
import { Field } from '../../../forms/field.tsx'
import { Secret } from '../../../forms/secret.tsx'
import { Select } from '../../../forms/select.tsx'
import { useAction } from '../../../forms/use-action.ts'
import { addressValue, setAddress } from '../../../parts/address-state.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { Filled } from '../../../parts/filled.tsx'
import { Failed } from '../../../parts/states.tsx'
import { go } from '../../../router.ts'
import { VerifyHelp } from './verify-help.tsx'
import {
  changeWebhook,
  deleteWebhook,
  recoverSince,
  rotateSecret,
  switchWebhook,
} from './webhook-data.ts'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookTest } from './webhook-test.tsx'
import type { Webhook } from './webhook-types.ts'

const { actions: words } = accountTexts.webhooks
const { forms } = accountTexts.settings

type ActionsProps = { readonly webhook: Webhook; readonly onChange: () => void }
type Open = 'test' | 'change' | 'rotate' | 'recover' | 'delete'

/** The actions on a webhook; each in a dialog of its own, except pausing. */
export function WebhookActions({ webhook, onChange }: ActionsProps) {
  const [open, setOpen] = useState<Open | undefined>(
    addressValue('test') === '' ? undefined : 'test',
  )
  const close = (): void => {
    setOpen(undefined)
    setAddress({ test: '' })
  }
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
          {words.test}
        </button>
        <button type="button" disabled={switching.isBusy} onClick={() => void flip()}>
          {isSending ? words.pause : words.resume}
        </button>
        <button type="button" onClick={() => setOpen('change')}>
          {words.change}
        </button>
        <button type="button" onClick={() => setOpen('rotate')}>
          {words.rotate}
        </button>
        <button type="button" onClick={() => setOpen('recover')}>
          {words.recover}
        </button>
        <button type="button" class="danger" onClick={() => setOpen('delete')}>
          {words.delete}
        </button>
      </div>
      {switching.error !== undefined && <Failed error={switching.error} />}
      <Dialog title={words.test} isOpen={open === 'test'} close={close}>
        <WebhookTest webhook={webhook} onChange={onChange} />
      </Dialog>
      <Dialog title={words.changeTitle} isOpen={open === 'change'} close={close}>
        <WebhookForm
          webhook={webhook}
          label={words.save}
          save={async (wanted) => {
            await changeWebhook(webhook.id, wanted)
            onChange()
            close()
          }}
        />
      </Dialog>
      <Dialog title={words.rotateTitle} isOpen={open === 'rotate'} close={close}>
        <Rotate webhook={webhook} onChange={onChange} close={close} />
      </Dialog>
      <Dialog title={words.recover} isOpen={open === 'recover'} close={close}>
        <Recover webhook={webhook} onChange={onChange} close={close} />
      </Dialog>
      <Confirm
        title={words.deleteTitle}
        label={words.deleteIt}
        isOpen={open === 'delete'}
        close={close}
        act={async () => {
          await deleteWebhook(webhook.id)
          go('/settings/webhooks')
        }}
      >
        <p>{words.deleteWords}</p>
      </Confirm>
    </>
  )
}

type ClosingProps = ActionsProps & { readonly close: () => void }

const overlaps = [
  ['86400', words.overlaps.s86400],
  ['3600', words.overlaps.s3600],
  ['604800', words.overlaps.s604800],
  ['0', words.overlaps.s0],
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
            {forms.stored}
          </button>
        </div>
      </div>
    )
  }
  return (
    <div class="stack">
      <Select label={words.overlap} value={overlap} choices={overlaps} onValue={setOverlap} />
      <p class="hint">
        <Filled
          text={words.overlapHint}
          parts={{
            current: () => <code>X-Service-Signature</code>,
            next: () => <code>X-Service-Signature-Next</code>,
          }}
        />
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
          {words.rotateIt}
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
      <p>{words.recoverWords}</p>
      <Field
        label={words.since}
        hint={words.sinceHint}
        value={since}
        onValue={setSince}
        input={{ type: 'datetime-local', required: true }}
      />
      {action.error !== undefined && <Failed error={action.error} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isBusy || Number.isNaN(sinceMs)}>
          {words.recoverIt}
        </button>
      </div>
    </form>
  )
}
