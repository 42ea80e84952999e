/** Sets up an InfluxDB 2 as the store needs it: two buckets, and tokens that can do little. */
import { HttpError, InfluxDB, type Transport } from '@influxdata/influxdb-client'
import { StoreMisconfigured } from '../store.ts'
import { influxFault } from './fault.ts'
import { rollupBucketOf } from './influx.ts'

export type InfluxOperator = {
  readonly url: string
  readonly org: string
  /** Of an operator: may make buckets and tokens. The service itself never holds it. */
  readonly operatorToken: string
}

/**
 * First start of a server of our own: makes the organisation and its operator. A server that was
 * set up before refuses.
 */
export async function setUpInflux({
  url,
  org,
  username,
  password,
}: {
  readonly url: string
  readonly org: string
  readonly username: string
  readonly password: string
}): Promise<InfluxOperator> {
  const transport = new InfluxDB({ url }).transport
  const made = await ask(transport, url, '/api/v2/setup', {
    username,
    password,
    org,
    // the server asks for one; the store's are made by `addInfluxBuckets`
    bucket: 'first',
  })
  return { url, org, operatorToken: textIn(memberOf(made, 'auth'), 'token') }
}

export type InfluxBuckets = {
  /** A new token that reads and writes these two buckets and nothing else, for the pipeline. */
  readonly newWriteToken: () => Promise<string>
  /** A new token that only reads them, for the API and for analysts. Each is shown this once. */
  readonly newReadToken: () => Promise<string>
}

/** Makes the bucket of readings and the one of roll-ups, both kept for ever, where they are missing. */
export async function addInfluxBuckets(
  { url, org, operatorToken }: InfluxOperator,
  bucket: string,
): Promise<InfluxBuckets> {
  const transport = new InfluxDB({ url, token: operatorToken }).transport
  const orgs = await ask(transport, url, `/api/v2/orgs?org=${encodeURIComponent(org)}`)
  const orgID = textIn(firstOf(orgs, 'orgs'), 'id')
  const ids = await Promise.all(
    [bucket, rollupBucketOf(bucket)].map(async (name) => {
      const known = await findBucket(transport, url, { orgID, name })
      const wanted = { orgID, name, retentionRules: [] }
      return textIn(known ?? (await ask(transport, url, '/api/v2/buckets', wanted)), 'id')
    }),
  )
  const newToken = async (description: string, actions: readonly string[]): Promise<string> => {
    const permissions = ids.flatMap((id) =>
      actions.map((action) => ({ action, resource: { type: 'buckets', id, orgID } })),
    )
    const made = await ask(transport, url, '/api/v2/authorizations', {
      orgID,
      description,
      permissions,
    })
    return textIn(made, 'token')
  }
  return {
    newWriteToken: async () => newToken(`airproof: reads and writes ${bucket}`, ['read', 'write']),
    newReadToken: async () => newToken(`airproof: reads ${bucket}`, ['read']),
  }
}

/** The server says 404 where there is none. */
async function findBucket(
  transport: Transport,
  url: string,
  { orgID, name }: { readonly orgID: string; readonly name: string },
): Promise<unknown> {
  const path = `/api/v2/buckets?orgID=${orgID}&name=${encodeURIComponent(name)}`
  try {
    return firstOf(await transport.request(path, '', { method: 'GET' }), 'buckets')
  } catch (error) {
    if (error instanceof HttpError && error.statusCode === 404) return undefined
    throw influxFault(error, `InfluxDB at ${url}, ${path}`)
  }
}

/** @param body posted where there is one */
async function ask(
  transport: Transport,
  url: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  try {
    const method = body === undefined ? 'GET' : 'POST'
    return await transport.request(path, body ?? '', {
      method,
      headers: { accept: 'application/json' },
    })
  } catch (error) {
    throw influxFault(error, `InfluxDB at ${url}, ${path}`)
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

function firstOf(value: unknown, name: string): unknown {
  const list = memberOf(value, name)
  return Array.isArray(list) ? list[0] : undefined
}

function textIn(value: unknown, name: string): string {
  const text = memberOf(value, name)
  if (typeof text !== 'string') throw new StoreMisconfigured(`InfluxDB names no ${name}`)
  return text
}
