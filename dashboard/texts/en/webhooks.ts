import { eventKindRows } from '../../../core/delivery/event-kinds.ts'
import { count, number } from './write.ts'

const kindWords = (kind: keyof typeof eventKindRows): string => eventKindRows[kind].words

/** What the pages of the webhooks say. */
export const webhooks = {
  intro: 'We send a signed POST to your server within seconds of an event.',
  create: 'New webhook',
  createIt: 'Create',
  kept: 'You closed the signing secret of your new webhook. It is shown only once: this page can show it until you leave it.',
  secret: 'Signing secret',
  armedLater:
    'Some sensors are already above your threshold. You will get an event the next time they cross it.',
  noneTitle: 'No webhook yet',
  none: 'Enter the address of your server to receive a POST when the air gets bad or a sensor goes offline.',
  premiumTitle: 'Webhooks belong to premium accounts',
  premium:
    'With a webhook, your server receives a signed POST within seconds when the index of a sensor crosses a threshold, or when a sensor goes offline. Ask {operator} to change your account. Until then, poll {sensors}:',
  all: '← All webhooks',
  back: '← The webhook',
  address: 'Address',
  events: 'Events',
  filters: 'Filters',
  id: 'Id',
  created: 'Created',
  oldSecret: 'Old secret',
  oldSecretUntil: 'signs too until {time}',
  everything: 'all sensors, all areas',
  ofSensor: (id: string) => `sensor ${id}`,
  ofArea: (name: string) => `area ${name}`,
  above: (threshold: number) => `threshold ${number(threshold, 2)}`,
  /** Kinds of events, for people who choose. */
  kinds: {
    'aqi.high': kindWords('aqi.high'),
    'aqi.critical': kindWords('aqi.critical'),
    'sensor.offline': kindWords('sensor.offline'),
    'sensor.online': kindWords('sensor.online'),
    'reading.new': kindWords('reading.new'),
    'reading.anchored': kindWords('reading.anchored'),
    'sensor.quality': kindWords('sensor.quality'),
  },
  form: {
    urlHint: 'HTTPS URL with a public host name (port 443 or 8443)',
    description: 'Description (optional)',
    filters: 'Filters (optional)',
    sensor: 'Sensor',
    sensorHint: (id: string) => `Its id, such as ${id}`,
    area: 'Area',
    areaHint: 'Its name; if a sensor is given too, both must fit',
    threshold: 'AQI threshold',
    thresholdHint: (usual: number) =>
      `For aqi.high: 0 to below 500; ${number(usual)} unless you say otherwise`,
    trigger: 'Tell me when',
  },
  actions: {
    test: 'Send a test',
    testOf: (webhook: string) => `Send a test to ${webhook}`,
    pause: 'Pause',
    resume: 'Resume',
    change: 'Change',
    changeTitle: 'Change the webhook',
    save: 'Save',
    rotate: 'New secret',
    rotateTitle: 'A new secret',
    overlap: 'The old secret goes on signing for',
    overlaps: {
      s86400: 'a day',
      s3600: 'an hour',
      s604800: 'seven days',
      s0: 'not at all: it leaked',
    },
    overlapHint: 'Until then the old one signs {current}, the new one {next}.',
    rotateIt: 'Make a new secret',
    recover: 'Replay events…',
    recoverWords:
      'Everything that happened since then and that it wants is sent again, with the same ids: a receiver that remembers ids drops what it has.',
    since: 'Since (your time)',
    sinceHint: 'Events are kept for 30 days',
    recoverIt: 'Send again',
    delete: 'Delete',
    deleteTitle: 'Delete this webhook?',
    deleteIt: 'Delete it',
    deleteWords: 'What waits for it is dropped, and its log is deleted.',
  },
  verify: {
    label: 'How to check the signature',
    words:
      'Answer with any 2xx within 15 seconds. A delivery may come more than once, with the same {id}: drop what you have seen. Libraries of {standard:Standard Webhooks} check it too.',
  },
  states: {
    disabled: 'disabled',
    suspended: 'suspended',
    paused: 'paused',
  },
  /** Why it does not send, and what to do. */
  why: {
    gone: (detail: string) =>
      `Your server answered 410 Gone${detail}. Resume the webhook when the address is there again; “Replay events” sends what happened in between.`,
    failing: (detail: string) =>
      `It failed for five days${detail}. Fix the endpoint, send a test, then resume it; “Replay events” sends what happened in between.`,
    operator: (detail: string) =>
      `The operator of this service has disabled it${detail}. Only they can enable it.`,
    off: 'It is switched off: events are not kept for it. Resume it to go on.',
    suspended: 'Your account is not premium now: events are kept and nothing is sent.',
    paused: 'Events are kept, and sent when you resume it.',
  },
  outcomes: {
    delivered: 'delivered',
    retry: 'failed, will retry',
    dead: 'given up',
    disabled: 'webhook disabled',
    cancelled: 'cancelled',
    pending: 'will retry',
    in_flight: 'being sent now',
    /** An example, which is not tried again. */
    failed: 'failed',
  },
  /** Why an attempt failed. */
  errors: {
    status: 'the answer was not 2xx',
    dns: 'the name could not be resolved',
    blocked_address: 'the name leads to an address that is not public',
    connect: 'no connection',
    connect_timeout: 'no connection within 5 seconds',
    tls: 'the certificate or the TLS handshake was not valid',
    timeout: 'no whole answer within 15 seconds',
    protocol: 'the answer was not HTTP',
    closed: 'the connection was closed before the answer',
    secret: 'the secret could not be read on our side',
    url: 'the address is not allowed any more',
    cancelled: 'the webhook was changed or deleted meanwhile',
  },
  triggers: { event: 'event', replay: 'replay', recover: 'replay of a period', test: 'test' },
  log: {
    title: 'Deliveries',
    show: 'Show',
    shown: {
      all: 'every attempt',
      delivered: 'delivered',
      retry: 'failed, will retry',
      pending: 'waiting now',
      dead: 'given up',
      disabled: 'disabled the webhook',
      cancelled: 'cancelled',
    },
    allFailed:
      'The newest attempts all failed. After five failures in a row deliveries are paused, for 30 seconds at first and at most ten minutes; what waits loses no attempt.',
    none: 'Nothing was sent yet. “Send a test” shows at once what your receiver gets.',
    noneSuch: 'None of this kind.',
    caption: 'Attempts, newest first',
    sent: 'Sent',
    event: 'Event',
    outcome: 'Outcome',
    answer: 'Answer',
    attempt: 'Attempt',
    took: 'Took',
    trigger: 'Trigger',
    older: 'Older',
    from: 'From day',
    to: 'To day',
    deliveryId: 'Delivery id',
    again: (n: number) => `Send ${n === 1 ? 'it' : `these ${number(n)}`} again`,
    sentAgain: (n: number) => `${number(n)} sent again`,
    noneWaiting: 'None.',
    inAll: (total: number) => `${number(total)} in all.`,
    inAllAndMore: (total: number) => `${number(total)} in all, and more that is not queued yet.`,
    waitingCaption: 'What waits, soonest first',
    deadCaption: 'What was given up',
    attempts: 'Attempts',
    next: 'Next',
  },
  delivery: {
    title: 'Delivery',
    test: 'a test',
    event: 'Event',
    unknownId: 'not known any more',
    next: 'Next attempt',
    again: 'Send it again',
    none: 'No attempt of it is kept.',
  },
  attempt: {
    title: (n: number) => `Attempt ${number(n)}`,
    titleBy: (n: number, trigger: string) => `Attempt ${number(n)} (${trigger})`,
    sent: 'Sent',
    answer: 'Answer',
    noAnswer: 'none',
    why: 'Why it failed',
    next: 'Next',
    took: 'Took',
    timings: '{total} (name {resolve}, connection {connect}, first byte {firstByte})',
    to: 'To',
    request: 'Request',
    response: 'Response',
    base64: 'The body is not text: base 64.',
    cut: 'Only the first 8 KiB are kept.',
    noBody: '(no body)',
  },
  health: {
    title: 'Health',
    none: 'Nothing was sent yet. “Send a test” shows at once whether your server answers.',
    errorRate: 'Error rate',
    of: (failed: number, tried: number) => `${number(failed)} of ${number(tried)} attempts failed`,
    ofNewest: (failed: number, tried: number) =>
      `${number(failed)} of the newest ${number(tried)} attempts failed`,
    lastSuccess: 'Last success',
    never: 'never',
    median: 'Median time',
    hours: 'Last 24 hours',
    days: 'Last 30 days',
    chart: (ok: number, failed: number) =>
      `${number(ok)} delivered, ${count(failed, { one: 'failed attempt', other: 'failed attempts' })}`,
    states: {
      unknown: 'on',
      none: 'no deliveries yet',
      ok: 'delivering',
      some: 'some attempts fail',
      failing: 'failing',
    },
  },
  test: {
    intro: 'An example goes to your server now, signed like any other.',
    event: 'Event',
    each: 'every kind, one after the other',
    send: 'Send it',
    waiting: 'Waiting for the answer…',
    catalogue: 'What each contains',
  },
  backTest: {
    ask: 'How often would it have fired?',
    /** @param since a date and time @param perDay undefined for less than a day */
    times: (times: number, since: string, perDay: string | undefined) =>
      `${count(times, { one: 'time', other: 'times' })} since ${since}${perDay === undefined ? '' : `, ${perDay} a day`}`,
    leftOut: {
      older: (since: string) =>
        `Counted since ${since} (UTC) only: at most 100,000 readings and 50,000 events are looked at.`,
      archived: (since: string) =>
        `Counted since ${since} (UTC) only: older readings are in the archive, which does not say when they arrived.`,
      unsure: (times: string) =>
        `${times} more, unless the index was above the threshold before the readings that were looked at.`,
      arrival: () =>
        'Some readings were stored by an earlier version: of those, also what arrived late is counted.',
    },
  },
}

export type WebhooksTexts = typeof webhooks
