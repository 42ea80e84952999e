/** What is wrong with an entry of any bucket: each bucket's rule, in one table. */
import type { SensorId, SensorIdRules } from '../core/air/sensor-id.ts'
import {
  deploymentKey,
  parseAlarms,
  parseAnchored,
  parseBoundary,
  parseChecked,
  parseDeployment,
  parseOpen,
  parseSealed,
} from './anchoring/batch-record.ts'
import { parseChainProof } from './anchoring/chain-proof.ts'
import { parseDeployment2 } from './anchoring/deployments.ts'
import { archiveReportSchema } from './archive-report.ts'
import { checkOf } from './check.ts'
import { applicationFault } from './devices/application.ts'
import { credentialSchema } from './devices/credential.ts'
import { entryFault } from './devices/registered-sensor.ts'
import { seenSchema } from './devices/seen.ts'
import { asVersion1, NewerFormat } from './formats.ts'
import { accountSchema, keySchema } from './people/account.ts'
import { quotaSchema } from './people/quota.ts'
import { retentionSchema } from './retention.ts'
import { buckets } from './subjects.ts'
import { neededPrefix, storedPrefix, systemKeys } from './system-keys.ts'
import { webhookSchema } from './webhooks/webhook.ts'

/** What is wrong, for people; undefined: nothing. */
type Check = (value: unknown, key: string) => string | undefined

const fits = (schema: object): Check => {
  const isRight = checkOf(schema)
  return (value) => {
    if (isRight(value)) return undefined
    const [first] = isRight.errors ?? []
    return `${first?.instancePath.slice(1).replaceAll('/', '.') || 'the entry'} ${first?.message ?? 'is not valid'}`
  }
}

const parses =
  (parse: (value: unknown) => unknown): Check =>
  (value) =>
    parse(value) === undefined ? 'the entry does not match its schema' : undefined

/** The first part of the key names the rule; other keys have none. */
const byKey =
  (rules: Readonly<Record<string, Check>>): Check =>
  (value, key) =>
    rules[key.split('.')[0] ?? '']?.(value, key)

const text = { type: 'string', minLength: 1 } as const
const time = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d' } as const
const object = (...names: readonly string[]) => ({
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, text])),
})

/** The prefix of the ids is a setting, and not checked here. */
const anyId: SensorIdRules = {
  prefix: '',
  format: 'a sensor id',
  example: '',
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its form is checked elsewhere
  parse: (id) => id as SensorId,
  shortNumber: () => undefined,
}

/** Buckets that are not listed hold plain text, which is always readable. */
const checks: Readonly<Record<string, Check>> = {
  [buckets.sensors]: (value) => entryFault(value, anyId),
  [buckets.accounts]: fits(accountSchema),
  [buckets.keys]: fits(keySchema),
  [buckets.emails]: fits(text),
  [buckets.passwords]: fits(text),
  [buckets.sessions]: fits({
    type: 'object',
    required: ['id', 'account', 'created_at', 'seen_at'],
    properties: { id: text, account: text, created_at: time, seen_at: time },
  }),
  [buckets.tokens]: fits({
    type: 'object',
    required: ['use', 'until'],
    properties: { use: object('kind'), until: time },
  }),
  [buckets.quota]: fits(quotaSchema),
  [buckets.used]: fits(time),
  [buckets.credentials]: fits(credentialSchema),
  [buckets.applications]: (value) => applicationFault(value),
  [buckets.seen]: fits(seenSchema),
  [buckets.webhooks]: fits(webhookSchema),
  [buckets.batches]: byKey({
    batch: parses(parseBoundary),
    header: parses(parseSealed),
    anchored: parses(parseAnchored),
    open: parses(parseOpen),
    checked: parses(parseChecked),
    alarms: parses(parseAlarms),
  }),
  [buckets.proofs]: parses(parseChainProof),
  [buckets.anchoring]: byKey({
    deployment: (value, key) =>
      parses(key === deploymentKey ? parseDeployment : parseDeployment2)(value, key),
  }),
  [buckets.system]: byKey({
    rollup: fits({
      type: 'object',
      required: ['position', 'dirty', 'dirtyDays'],
      properties: {
        position: { type: 'integer', minimum: 0 },
        dirty: { type: 'array' },
        dirtyDays: { type: 'array' },
        sensorsFromMs: { type: 'number' },
        rules: { type: 'integer', minimum: 1 },
      },
    }),
    archive: fits(archiveReportSchema),
    stored: fits({ type: 'object' }),
    needed: fits({
      type: 'object',
      required: ['readings'],
      properties: { readings: { type: ['integer', 'null'] } },
    }),
    retention: fits(retentionSchema),
  }),
}

/** The other keys of `system` hold plain text, or are checked where they are read. */
const isJsonKey = (key: string): boolean =>
  key === systemKeys.rollup ||
  key === systemKeys.archive ||
  key === systemKeys.retention ||
  key.startsWith(storedPrefix) ||
  key.startsWith(neededPrefix)

/** An entry without its version where that is 1. @throws NewerFormat */
export function knownEntry(bucket: string, key: string, value: unknown): unknown {
  const where = `KV ${bucket}, key ${key}`
  const isSealed = bucket === buckets.batches && key.startsWith('header.')
  return asVersion1(isSealed ? 'sealed' : 'entry', value, where)
}

/** An entry as the server holds it. @returns why it cannot be used; undefined: it can */
export function faultOfEntry(bucket: string, key: string, body: string): string | undefined {
  if (checkAt(bucket, key) === undefined) return undefined
  try {
    return faultOfValue(bucket, key, knownEntry(bucket, key, JSON.parse(body)))
  } catch (error) {
    return error instanceof NewerFormat ? error.message : 'it is not JSON'
  }
}

/** The same of what `knownEntry` returned. */
export const faultOfValue = (bucket: string, key: string, value: unknown): string | undefined =>
  checkAt(bucket, key)?.(value, key)

const checkAt = (bucket: string, key: string): Check | undefined =>
  bucket === buckets.system && !isJsonKey(key) ? undefined : checks[bucket]
