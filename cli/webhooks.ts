import type { NatsConnection } from '@nats-io/transport-node'
import { formatIso, parseIso } from '../core/iso-time.ts'
import { shownLine } from '../core/shown-text.ts'
import { listAccounts, needAccount, openAccountBook } from '../operate/account-book.ts'
import { createAttemptLog } from '../operate/webhooks/attempt-log.ts'
import { OwnerAway } from '../operate/webhooks/delivery-errors.ts'
import { deliveryOwner, type Waiting } from '../operate/webhooks/delivery-owner.ts'
import { keyOfDelivery } from '../operate/webhooks/find-delivery.ts'
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  needWebhook,
  stateOf,
} from '../operate/webhooks/records.ts'
import { viewOf, type WebhookView } from '../operate/webhooks/view.ts'
import { exitCodes, WrongUsage } from '../runtime/exit.ts'
import type { Attempt } from '../schemas/webhooks/attempt.ts'
import type { Webhook } from '../schemas/webhooks/webhook.ts'
import type { Command, CommandContext } from './shell/command.ts'
import { withInstance } from './shell/instance.ts'
import { tableLines } from './shell/table.ts'
import { exactWords, subcommand, textFlag } from './shell/words.ts'

const shownAttempts = 10
const mostDead = 1_000

export const command: Command = {
  summary: 'webhooks of all accounts: list, show, disable, enable, send again',
  help: `\
usage: airproof webhooks list [--account ID|EMAIL]
       airproof webhooks show ID
       airproof webhooks disable ID [--reason TEXT]
       airproof webhooks enable ID
       airproof webhooks replay ID DELIVERY…
       airproof webhooks replay ID --dead
       airproof webhooks replay ID --since TIME

What the operator has disabled its owner cannot resume; the reason is shown to them. replay sends
again what is named, what was given up, or everything since a time, always with the same ids.

  --account ID|EMAIL  only the webhooks of this account
  --reason TEXT       why, for the owner to read
  --dead              what was given up after its last attempt, at most ${mostDead} at a time
  --since TIME        an ISO 8601 time; without an offset it is UTC
  --json              print data as JSON

examples:
  npx airproof webhooks list --account ada@example.org
  npx airproof webhooks show wh_0123456
  npx airproof webhooks disable wh_0123456 --reason "answers with 10 GB"
  npx airproof webhooks replay wh_0123456 --since 2026-01-31T08:00:00Z`,
  options: {
    account: { type: 'string' },
    reason: { type: 'string' },
    dead: { type: 'boolean' },
    since: { type: 'string' },
    json: { type: 'boolean' },
  },
  flagsOf: {
    list: ['account', 'json'],
    show: ['json'],
    disable: ['reason', 'json'],
    enable: ['json'],
    replay: ['dead', 'since', 'json'],
  },
  run: async (context) => {
    const verbs = { list, show, disable, enable, replay }
    const [verb, words] = subcommand('webhooks', context.words, verbs)
    return await withInstance(context, (nc) => verb(nc, { ...context, words }))
  },
}

type Verb = (nc: NatsConnection, context: CommandContext) => Promise<number>

type OperatorView = WebhookView & { readonly account: string }
type Premium = ReadonlySet<string>
const viewFor = (webhook: Webhook, premium: Premium): OperatorView => ({
  account: webhook.account,
  ...viewOf(webhook, { nowMs: Date.now(), isPremium: premium.has(webhook.account) }),
})

/** The accounts that webhooks are sent for. */
async function readPremium(nc: NatsConnection): Promise<Premium> {
  const accounts = await listAccounts(await openAccountBook(nc))
  return new Set(accounts.filter(({ tier }) => tier === 'premium').map(({ id }) => id))
}

const list: Verb = async (nc, { flags, words, print }) => {
  exactWords(words)
  const owner = textFlag(flags, 'account')
  const account =
    owner === undefined ? undefined : (await needAccount(await openAccountBook(nc), owner)).id
  const webhooks = await listWebhooks(nc, account)
  const premium = await readPremium(nc)
  if (flags['json'] === true)
    print(JSON.stringify(webhooks.map((webhook) => viewFor(webhook, premium))))
  else for (const line of listLines(webhooks, premium)) print(line)
  return exitCodes.done
}

const listLines = (webhooks: readonly Webhook[], premium: Premium): readonly string[] =>
  webhooks.length === 0
    ? ['no webhooks: premium accounts make them with POST /v1/webhooks']
    : tableLines(
        ['ID', 'ACCOUNT', 'STATE', 'EVENTS', 'URL'],
        webhooks.map((webhook) => [
          webhook.id,
          webhook.account,
          stateWords(webhook, premium),
          webhook.events.join(','),
          webhook.url,
        ]),
      )

const stateWords = (webhook: Webhook, premium: Premium): string => {
  const reason = webhook.disabled?.reason
  if (reason !== undefined) return `${stateOf(webhook)} (${reason})`
  return premium.has(webhook.account) ? stateOf(webhook) : `${stateOf(webhook)}, not premium`
}

const show: Verb = async (nc, { flags, words, print }) => {
  const [id = ''] = exactWords(words, 'ID')
  const webhook = await needWebhook(nc, id)
  const [premium, pending, dead] = await Promise.all([
    readPremium(nc),
    waitingOf(nc, id, 'pending'),
    waitingOf(nc, id, 'dead'),
  ])
  const attempts: Attempt[] = []
  for await (const { attempt } of createAttemptLog(nc).read(id)) {
    attempts.push(attempt)
    if (attempts.length === shownAttempts) break
  }
  if (flags['json'] === true)
    print(
      JSON.stringify({
        ...viewFor(webhook, premium),
        pending: pending?.total ?? null,
        dead: dead?.total ?? null,
        is_behind: pending?.is_behind ?? null,
        attempts,
      }),
    )
  else for (const line of showLines(webhook, { premium, pending, dead, attempts })) print(line)
  return exitCodes.done
}

/** Undefined where no notifier owns its shard right now. */
async function waitingOf(
  nc: NatsConnection,
  id: string,
  state: 'pending' | 'dead',
): Promise<Waiting | undefined> {
  try {
    return await deliveryOwner(nc).list(id, { state, limit: 1 })
  } catch (error) {
    if (error instanceof OwnerAway) return undefined
    throw error
  }
}

function showLines(
  webhook: Webhook,
  {
    premium,
    pending,
    dead,
    attempts,
  }: {
    readonly premium: Premium
    readonly pending: Waiting | undefined
    readonly dead: Waiting | undefined
    readonly attempts: readonly Attempt[]
  },
): readonly string[] {
  const { id, account, url, description, events, filters, disabled, created_at } = webhook
  const soonest = pending?.deliveries[0]?.due_at
  return [
    `${id} of ${account}, made ${created_at}`,
    `url       ${url}`,
    ...(description === undefined ? [] : [`about     ${description}`]),
    `events    ${events.join(', ')}`,
    `filters   ${JSON.stringify(filters)}`,
    `state     ${stateWords(webhook, premium)}${disabled === undefined ? '' : ` since ${disabled.at}`}`,
    ...(disabled?.detail === undefined ? [] : [`because   ${disabled.detail}`]),
    pending === undefined
      ? 'waiting   unknown: no notifier owns its shard right now'
      : `waiting   ${pending.total}${soonest ? `, the first due ${soonest}` : ''}${pending.is_behind ? ', more in the streams' : ''}`,
    ...(dead === undefined ? [] : [`given up  ${dead.total}`]),
    '',
    ...(attempts.length === 0 ? ['nothing was sent yet'] : attemptLines(attempts)),
  ].map(shownLine)
}

const attemptLines = (attempts: readonly Attempt[]): readonly string[] =>
  tableLines(
    ['AT', 'EVENT', 'ATTEMPT', 'OUTCOME', 'STATUS', 'WHY', 'DELIVERY'],
    attempts.map((row) => [
      row.at,
      row.event,
      String(row.attempt),
      row.outcome,
      String(row.response?.status ?? '-'),
      row.error ?? '-',
      row.delivery,
    ]),
  )

const disable: Verb = async (nc, { flags, words, print }) => {
  const [id = ''] = exactWords(words, 'ID')
  const detail = textFlag(flags, 'reason')
  const webhook = await disableWebhook(nc, id, { detail, nowMs: Date.now() })
  print(
    flags['json'] === true
      ? JSON.stringify(viewFor(webhook, await readPremium(nc)))
      : `disabled ${id}`,
  )
  return exitCodes.done
}

const enable: Verb = async (nc, { flags, words, print }) => {
  const [id = ''] = exactWords(words, 'ID')
  const webhook = await enableWebhook(nc, id, Date.now())
  print(
    flags['json'] === true
      ? JSON.stringify(viewFor(webhook, await readPremium(nc)))
      : `enabled ${id}`,
  )
  return exitCodes.done
}

const replay: Verb = async (nc, { flags, words, print }) => {
  const [id, ...named] = words
  if (id === undefined) throw new WrongUsage('ID is missing')
  const since = sinceFlag(textFlag(flags, 'since'))
  const isDead = flags['dead'] === true
  if ([named.length > 0, since !== undefined, isDead].filter(Boolean).length !== 1)
    throw new WrongUsage('name deliveries, or say --dead, or --since TIME')
  await needWebhook(nc, id)
  const owner = deliveryOwner(nc)
  if (since !== undefined) {
    await owner.recover(id, since)
    print(flags['json'] === true ? JSON.stringify({ since }) : `sending again since ${since}`)
    return exitCodes.done
  }
  const keys = isDead ? await deadKeys(nc, id) : await keysOf(nc, id, named)
  const deliveries: string[] = []
  for (const key of keys) deliveries.push(await owner.replay(id, key))
  print(
    flags['json'] === true
      ? JSON.stringify({ deliveries })
      : `${deliveries.length} to be sent again`,
  )
  return exitCodes.done
}

function sinceFlag(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const verdict = parseIso(text)
  const timeMs = 'timeMs' in verdict ? verdict.timeMs : verdict.asUtcMs
  if (timeMs !== undefined) return formatIso(timeMs)
  throw new WrongUsage(`--since must be a time such as 2026-01-31T08:00:00Z, and is "${text}"`)
}

const deadKeys = async (nc: NatsConnection, id: string): Promise<readonly string[]> =>
  (await deliveryOwner(nc).list(id, { state: 'dead', limit: mostDead })).deliveries.map(
    ({ key }) => key,
  )

async function keysOf(
  nc: NatsConnection,
  id: string,
  named: readonly string[],
): Promise<readonly string[]> {
  const sources = { log: createAttemptLog(nc), owner: deliveryOwner(nc) }
  const keys: string[] = []
  for (const name of named) keys.push(await keyOfDelivery(sources, id, name))
  return keys
}
