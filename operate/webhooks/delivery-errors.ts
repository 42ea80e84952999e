/** Why something is not done with a webhook's deliveries. Each class is handled by its name; the API gives each its own words. */
import { MustAct, TryAgain } from '../../runtime/exit.ts'

/** The process that delivers for the webhook does not answer, or not now. */
export class OwnerAway extends TryAgain {
  constructor(cause?: unknown) {
    super('the process that delivers cannot be asked right now: is a notifier running?', { cause })
  }
}

/** The stream of attempts does not answer. */
export class AttemptsAway extends TryAgain {
  constructor(cause: unknown) {
    super('the log of deliveries cannot be read right now', { cause })
  }
}

/** The webhook has no such delivery, or what it was about is not kept any more. */
export class NoDelivery extends MustAct {
  /** As it was asked for. */
  readonly delivery: string
  readonly why: 'unknown' | 'not_kept'

  constructor(delivery: string, why: NoDelivery['why']) {
    super(
      why === 'unknown'
        ? 'the webhook has no delivery of that id, or not any more'
        : 'it cannot be sent again: what it was about is not kept, or not any more',
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
