import type { NatsConnection } from '@nats-io/transport-node'
import type { Logger } from '../runtime/log.ts'
import { keepImage } from '../runtime/nats/buckets/keep-image.ts'
import { buckets } from '../schemas/subjects.ts'
import { tasks } from '../schemas/system-keys.ts'
import type { CredentialBook } from './credential-book.ts'
import { SingleDuty } from './single-duty.ts'

type Options = {
  readonly held: CredentialBook['held']
  /** Stable over restarts. */
  readonly holder: string
  readonly log: Logger
  readonly stop: AbortSignal
}

/** One gate at a time keeps the image of bucket `credentials`, from which every gate starts. */
export function imageCredentials(
  nc: NatsConnection,
  { held, holder, log, stop }: Options,
): Promise<SingleDuty> {
  const imaging = {
    nc,
    bucket: buckets.credentials,
    held,
    onFailure: (error: unknown) =>
      log.debug({ err: error }, 'the image of credentials: trying again'),
  }
  const work = (until: AbortSignal): Promise<void> => keepImage(imaging, until)
  return SingleDuty.open({ nc, holder, log, stop, task: tasks.credentialsImage, work })
}
