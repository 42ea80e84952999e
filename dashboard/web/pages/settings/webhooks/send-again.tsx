import { useState } from 'preact/hooks'
import { accountTexts } from '../../../account-texts.ts'
import { useAction } from '../../../forms/use-action.ts'
import { Failed } from '../../../parts/states.tsx'
import { replayDelivery } from './webhook-data.ts'

const { log: words } = accountTexts.webhooks

type AgainProps = {
  readonly webhook: string
  /** Of the deliveries on show; null for what is no longer kept. One may be named twice. */
  readonly ids: readonly (string | null)[]
  readonly onSent: () => void
}

/** Sends all deliveries on show again, one after the other; at the first error the rest waits for another press. */
export function SendAgain({ webhook, ids, onSent }: AgainProps) {
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set())
  const action = useAction()
  const left = [...new Set(ids)].filter((id): id is string => id !== null && !sent.has(id))
  const send = (): Promise<boolean> =>
    action.run(async () => {
      const done = new Set(sent)
      for (const id of left) {
        await replayDelivery(webhook, id)
        done.add(id)
        setSent(new Set(done))
      }
      onSent()
    })
  return (
    <>
      {action.error !== undefined && <Failed error={action.error} />}
      <div class="actions">
        {left.length > 0 && (
          <button type="button" disabled={action.isBusy} onClick={() => void send()}>
            {words.again(left.length)}
          </button>
        )}
        <span role="status">{sent.size > 0 && words.sentAgain(sent.size)}</span>
      </div>
    </>
  )
}
