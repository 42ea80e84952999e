/**
 * Another key for what is sealed at rest (webhooks' secrets, emails that wait), while everything goes on.
 * Its file has both keys meanwhile, so whatever either sealed can be opened. Where a rotation is follows
 * from the file and the fingerprint in KV `system`, so a command that was killed is run again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { secondMs } from '../../core/time.ts'
import { MustAct } from '../../runtime/exit.ts'
import { jsonOf } from '../../runtime/nats/buckets/read-entry.ts'
import { changeEntry } from '../../runtime/nats/cas.ts'
import { sealedMail } from '../../runtime/nats/mail-queue.ts'
import { writeInPlace } from '../../runtime/private-file.ts'
import { newSecretKey, type SecretBox, secretBox } from '../../runtime/secrets/seal-secret.ts'
import { secretLines } from '../../runtime/settings.ts'
import { buckets, mailStream } from '../../schemas/subjects.ts'
import { systemKeys } from '../../schemas/system-keys.ts'
import { parseWebhook, type Webhook } from '../../schemas/webhooks/webhook.ts'

/** How long a process takes at most to learn that another key seals now. */
const learnedWithinMs = 2 * secondMs
/** How long emails that wait are waited for. */
const mailsWithinMs = 20 * secondMs
const lookEveryMs = 200

export type KeyRotating = {
  readonly file: string
  readonly stop: AbortSignal
  /** For tests: called after each step, and may end the command there. */
  readonly onStep?: (step: string) => void
}

/** From now on processes find the next key in the file too. */
export function offerKey(file: string): void {
  const keys = secretLines(file)
  if (keys.length === 1) writeInPlace(file, `${[...keys, newSecretKey()].join('\n')}\n`)
}

export const isKeyOffered = (file: string): boolean => secretLines(file).length > 1

/**
 * The next key seals; what the former one sealed is sealed again; the former one is deleted.
 * @returns how many secrets were sealed again
 * @throws MustAct emails that the former key sealed still wait, or a secret was sealed by neither
 */
export async function finishKey(
  nc: NatsConnection,
  { file, stop, onStep = () => undefined }: KeyRotating,
): Promise<number> {
  const [formerKey = '', nextKey = ''] = secretLines(file)
  const [former, next] = [secretBox(formerKey), secretBox(nextKey)]
  const kvm = new Kvm(nc)
  const [system, webhooks] = [await kvm.open(buckets.system), await kvm.open(buckets.webhooks)]
  await system.put(systemKeys.secretKey, JSON.stringify(next.fingerprint))
  onStep('the next key seals')
  let count = await sealAgain(webhooks, former, next)
  onStep('sealed again')
  await sleep(learnedWithinMs, undefined, { signal: stop })
  count += await sealAgain(webhooks, former, next)
  await untilMailsAreSent(nc, next, stop)
  onStep('the former key is not needed')
  writeInPlace(file, `${nextKey}\n`)
  return count
}

async function sealAgain(webhooks: KV, former: SecretBox, next: SecretBox): Promise<number> {
  let count = 0
  const again = (webhook: Webhook): Webhook | undefined => {
    const { current, previous } = webhook.secrets
    const sealedAgain = (sealed: string): string => {
      if (isOpenedBy(next, sealed, webhook.id)) return sealed
      return next.seal(former.open(sealed, webhook.id), webhook.id)
    }
    const secrets = {
      current: sealedAgain(current),
      ...(previous && { previous: { ...previous, sealed: sealedAgain(previous.sealed) } }),
    }
    if (secrets.current === current && secrets.previous?.sealed === previous?.sealed)
      return undefined
    return { ...webhook, secrets }
  }
  for await (const key of await webhooks.keys()) {
    const changed = await changeEntry(webhooks, key, (entry) => {
      const webhook = parseWebhook(jsonOf(entry))
      return webhook && again(webhook)
    })
    if (changed !== undefined) count++
  }
  return count
}

function isOpenedBy(box: SecretBox, sealed: string, boundTo: string): boolean {
  try {
    box.open(sealed, boundTo)
    return true
  } catch {
    return false
  }
}

/** Emails leave the stream when they are sent, the oldest first. @throws MustAct they do not */
async function untilMailsAreSent(
  nc: NatsConnection,
  next: SecretBox,
  stop: AbortSignal,
): Promise<void> {
  const manager = await jetstreamManager(nc, { checkAPI: false })
  const deadlineMs = performance.now() + mailsWithinMs
  for (;;) {
    const { state } = await manager.streams.info(mailStream)
    const oldest =
      state.messages === 0
        ? undefined
        : await manager.streams.getMessage(mailStream, { seq: state.first_seq })
    if (oldest == null || isOpenedBy(next, oldest.string(), sealedMail)) return
    if (performance.now() > deadlineMs)
      throw new MustAct(
        `${state.messages} emails wait to be sent, and the former key sealed the oldest of them: it stays in the file until they are sent, or are seven days old. Mend the mail server (\`airproof doctor\`), and run \`airproof access --finish\` again`,
      )
    await sleep(lookEveryMs, undefined, { signal: stop })
  }
}
