/**
 * Why an operation on a webhook's deliveries failed. Callers handle each by its class; the API
 * gives each its own text.
 */
import { MustAct, TryAgain } from '../../runtime/exit.ts'

/** The process that delivers for the webhook does not answer, or not now. */
export class OwnerAway extends TryAgain {
  constructor(cause?: unknown) {
    super('the process that delivers does not answer right now: is a notifier running?', { cause })
  }
}

/** The stream of attempts does not answer. */
export class AttemptsAway extends TryAgain {
  constructor(cause: unknown) {
    super('the log of deliveries cannot be read right now', { cause })
  }
}

/** The webhook has no such delivery, or its event is not stored any more. */
export class NoDelivery extends MustAct {
  /** As the caller gave it. */
  readonly delivery: string
  readonly why: 'unknown' | 'not_kept'

  constructor(delivery: string, why: NoDelivery['why']) {
    super(
      why === 'unknown'
        ? 'the webhook has no delivery of that id, or not any more'
        : 'the delivery cannot be sent again: its event is not stored any more',
    )
    this.delivery = delivery
    this.why = why
  }
}

export class WebhookDisabled extends MustAct {
  constructor() {
    super('the webhook is disabled: resume it first')
  }
}
