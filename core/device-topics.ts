/**
 * Devices whose firmware fixes its own MQTT topics: which topics each kind may publish, and which
 * device and quantity a topic belongs to. Topics are written here as NATS subjects, `/` as `.`; a
 * name that NATS would write differently (dots, spaces, slashes, wildcards) is not a serial.
 */

/** A registry entry's `device`, as far as topics need it. */
export type TopicDevice = {
  readonly kind: string
  /** The name that the device's topics carry. */
  readonly serial: string
  readonly options?: Readonly<Record<string, unknown>> | undefined
}

export const topicKinds = ['airgradient', 'tasmota', 'esphome', 'zigbee2mqtt'] as const
export type TopicKind = (typeof topicKinds)[number]

export const isTopicKind = (kind: string): kind is TopicKind =>
  topicKinds.some((known) => known === kind)

type Rule = { readonly serial: RegExp; readonly means: string }

const rules: Readonly<Record<TopicKind, Rule>> = {
  airgradient: {
    serial: /^[0-9a-f]{12}$/,
    means: '12 lower-case hex digits, as in its topic airgradient/readings/<serial>',
  },
  tasmota: {
    serial: /^[A-Za-z0-9_-]{1,64}$/,
    means: 'its Topic: letters, digits, _ and -, as in tele/<Topic>/SENSOR',
  },
  esphome: {
    serial: /^[A-Za-z0-9_-]{1,64}$/,
    means: 'the name in its topic_prefix esphome/<name>: letters, digits, _ and -',
  },
  zigbee2mqtt: {
    serial: /^[A-Za-z0-9_-]{1,31}:[A-Za-z0-9_-]{1,32}$/,
    means: '<bridge>:<device>, as in zigbee2mqtt/<bridge>/<device>: letters, digits, _ and -',
  },
}

/** What is wrong with the serial of a device of a topic kind; undefined: nothing. */
export function serialFault({ kind, serial }: TopicDevice): string | undefined {
  if (!isTopicKind(kind) || rules[kind].serial.test(serial)) return undefined
  return `the serial of a device of kind ${kind} is ${rules[kind].means}`
}

/**
 * The subjects that a device may publish to under its own name: those of its readings, and whatever
 * else the firmware publishes, which is not read (denied, it would fill the server's log).
 * Exact up to the device's own name, with wildcards only after it.
 * @returns none for a kind without topics or an invalid serial
 */
export function topicsOf(device: TopicDevice): readonly string[] {
  const { kind, serial } = device
  if (!isTopicKind(kind) || serialFault(device) !== undefined) return []
  switch (kind) {
    case 'airgradient':
      return [`airgradient.readings.${serial}`]
    case 'tasmota':
      // once after it connects it publishes an empty cmnd/<Topic>/POWER
      return [`tele.${serial}.*`, `stat.${serial}.>`, `cmnd.${serial}.POWER`]
    case 'esphome':
      return [`esphome.${serial}.>`]
    case 'zigbee2mqtt':
      // one client publishes for all devices of its bridge
      return [`zigbee2mqtt.${bridgeOf(serial)}.>`]
  }
}

/**
 * The subjects that a device may subscribe to, in addition to those of every sensor. Only Zigbee2MQTT
 * must: it exits if its subscription to everything below its base topic is refused.
 */
export function subscriptionsOf(device: TopicDevice): readonly string[] {
  if (device.kind !== 'zigbee2mqtt' || serialFault(device) !== undefined) return []
  const base = `zigbee2mqtt.${bridgeOf(device.serial)}`
  // MQTT's `base/#` includes `base`
  return [base, `${base}.>`]
}

const bridgeOf = (serial: string): string => serial.split(':')[0] ?? ''

const clientId = /^[A-Za-z0-9_.:-]{1,64}$/

/**
 * The MQTT client ids that a sensor may connect with: its own id or, if the firmware fixes another,
 * the one of option `client_id`. A client id belongs to one connection: the next one with it ends
 * the previous one, so the check must allow no others.
 */
export function clientIdsOf(sensor: string, device?: TopicDevice): readonly string[] {
  const value = device?.options?.['client_id']
  // a client id of digits may have been stored as a number
  const own = typeof value === 'number' ? String(value) : value
  return typeof own === 'string' && clientId.test(own) ? [sensor, own] : [sensor]
}

/** The subjects of readings, for every possible device. */
export const readingTopics = [
  'airgradient.readings.*',
  'tele.*.SENSOR',
  'esphome.*.sensor.*.state',
  'zigbee2mqtt.*.*',
] as const

/** No device's message is longer, in bytes; a Zigbee device's whole state is a few hundred. */
export const longestTopicMessage = 16 * 1024

export type SpokenTopic = {
  readonly kind: TopicKind
  readonly serial: string
  /** ESPHome's name of the one quantity that the topic carries; '' for the others. */
  readonly part: string
}

/** The device that a subject among `readingTopics` belongs to. */
export function parseTopic(subject: string): SpokenTopic | undefined {
  const [first, second = '', third = '', part = ''] = subject.split('.')
  switch (first) {
    case 'airgradient':
      return { kind: 'airgradient', serial: third, part: '' }
    case 'tele':
      return { kind: 'tasmota', serial: second, part: '' }
    case 'esphome':
      return { kind: 'esphome', serial: second, part }
    case 'zigbee2mqtt':
      return { kind: 'zigbee2mqtt', serial: `${second}:${third}`, part: '' }
    default:
      return undefined
  }
}
