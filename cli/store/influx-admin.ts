/** What `store setup` asks of an InfluxDB 2 with the token of its administrator. */
import { hash } from 'node:crypto'
import { MustAct, TryAgain } from '../../runtime/exit.ts'

export type InfluxAdmin = {
  /** @throws MustAct unless an InfluxDB 2 answers there, and lets the token in */
  readonly findOrg: (name: string) => Promise<string>
  readonly findBucket: (orgId: string, name: string) => Promise<InfluxBucket | undefined>
  readonly makeBucket: (orgId: string, name: string) => Promise<InfluxBucket>
  /** Of tokens that never came into use: who made them was interrupted. */
  readonly deleteInactive: (orgId: string, description: string) => Promise<void>
  /** It may do nothing until it is activated. */
  readonly makeInactive: (wanted: WantedToken) => Promise<NewToken>
  readonly activate: (made: NewToken, wanted: Pick<WantedToken, 'description'>) => Promise<void>
  /**
   * InfluxDB 2.9 shows no token again, so one is found by its description.
   * @returns false if several may be it, or none
   */
  readonly deleteToken: (
    of: Pick<WantedToken, 'orgId' | 'description'>,
    token: string,
  ) => Promise<boolean>
  /** Whether a token may do all of this. */
  readonly may: (token: string, wanted: WantedToken) => Promise<boolean>
}

export type InfluxBucket = {
  readonly id: string
  readonly name: string
  /** 0: for ever. */
  readonly keptSeconds: number
}

export type WantedToken = {
  readonly orgId: string
  readonly description: string
  readonly buckets: readonly InfluxBucket[]
  readonly actions: readonly ('read' | 'write')[]
}

type NewToken = { readonly id: string; readonly token: string }

const timeoutMs = 20_000

/** @param url for the messages as well, so it holds no password */
export function influxAdmin(url: string, adminToken: string): InfluxAdmin {
  const ask = async (
    method: string,
    path: string,
    { token = adminToken, body }: { readonly token?: string; readonly body?: unknown } = {},
  ): Promise<Answer> => {
    try {
      const answer = await fetch(new URL(path, url), {
        method,
        headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, json: jsonOf(text) }
    } catch (cause) {
      throw new TryAgain(`InfluxDB at ${url} does not answer: is it running, and is --url right?`, {
        cause,
      })
    }
  }
  const done = async (what: string, asked: Promise<Answer>): Promise<unknown> => {
    const { status, json } = await asked
    if (status >= 200 && status < 300) return json
    throw faultOf(status, what, url, textIn(json, 'message'))
  }
  const refuseOthers = async (): Promise<void> => {
    const { headers, json, status } = await ask('GET', '/ping')
    const version = headers.get('x-influxdb-version') ?? textIn(json, 'version')
    if (version?.replace(/^v/, '').startsWith('2.')) return
    throw new MustAct(
      version === undefined
        ? `what answers at ${url} (with ${status}) is not an InfluxDB 2: check --url`
        : `InfluxDB at ${url} is version ${version}, and airproof needs version 2: run influxd 2.x, or check --url`,
    )
  }
  return {
    findOrg: async (name) => {
      await refuseOthers()
      const orgs = listIn(await done('list organisations', ask('GET', '/api/v2/orgs')), 'orgs')
      const id = textIn(
        orgs.find((org) => textIn(org, 'name') === name),
        'id',
      )
      if (id !== undefined) return id
      const names = orgs.map((org) => textIn(org, 'name')).join(', ')
      throw new MustAct(
        `InfluxDB at ${url} has no organisation "${name}" for this token${names === '' ? '' : `, only ${names}`}: choose one with --org`,
      )
    },
    findBucket: async (orgId, name) => {
      const path = `/api/v2/buckets?orgID=${orgId}&name=${encodeURIComponent(name)}`
      const { status, json } = await ask('GET', path)
      if (status === 404) return undefined
      if (status !== 200) throw faultOf(status, 'list buckets', url, textIn(json, 'message'))
      const [bucket] = listIn(json, 'buckets')
      return bucket === undefined ? undefined : bucketOf(bucket)
    },
    makeBucket: async (orgID, name) =>
      bucketOf(
        await done(
          `make the bucket ${name}`,
          ask('POST', '/api/v2/buckets', { body: { orgID, name, retentionRules: [] } }),
        ),
      ),
    deleteInactive: async (orgID, description) => {
      const path = `/api/v2/authorizations?orgID=${orgID}`
      for (const one of listIn(await done('list tokens', ask('GET', path)), 'authorizations')) {
        const isOurs = textIn(one, 'description') === description
        if (isOurs && textIn(one, 'status') === 'inactive')
          await done(
            'delete a token',
            ask('DELETE', `/api/v2/authorizations/${textIn(one, 'id') ?? ''}`),
          )
      }
    },
    deleteToken: async ({ orgId: orgID, description }, token) => {
      const path = `/api/v2/authorizations?orgID=${orgID}`
      const all = listIn(await done('list tokens', ask('GET', path)), 'authorizations')
      const named = (name: string): readonly unknown[] =>
        all.filter((one) => textIn(one, 'description') === name)
      const own = named(describedAs(description, token))
      const [one, ...others] = own.length > 0 ? own : named(description)
      const id = textIn(one, 'id')
      if (id === undefined || others.length > 0) return false
      await done('delete a token', ask('DELETE', `/api/v2/authorizations/${id}`))
      return true
    },
    makeInactive: async ({ orgId: orgID, description, buckets, actions }) => {
      const permissions = buckets.flatMap(({ id }) =>
        actions.map((action) => ({ action, resource: { type: 'buckets', id, orgID } })),
      )
      const body = { orgID, description, permissions, status: 'inactive' }
      const made = await done('make a token', ask('POST', '/api/v2/authorizations', { body }))
      return { id: neededText(made, 'id'), token: neededText(made, 'token') }
    },
    activate: async ({ id, token }, { description }) => {
      const path = `/api/v2/authorizations/${id}`
      const body = { status: 'active', description: describedAs(description, token) }
      await done('activate a token', ask('PATCH', path, { body }))
    },
    may: async (token, { orgId, buckets, actions }) => {
      for (const { name } of buckets) {
        const at = encodeURIComponent(name)
        const read = await ask('POST', `/query?db=${at}&q=${encodeURIComponent(readNothing)}`, {
          token,
        })
        if (read.status !== 200 || isErrorOfStatement(read.json)) return false
        if (!actions.includes('write')) continue
        const write = `/api/v2/write?orgID=${orgId}&bucket=${at}`
        // without a line: 400 comes after the question whether it may
        const { status } = await ask('POST', write, { token })
        if (status !== 204 && status !== 400) return false
      }
      return true
    },
  }
}

/** Distinguishes our tokens of one kind without revealing anything about them. */
const describedAs = (description: string, token: string): string =>
  `${description} (${hash('sha256', token).slice(0, 8)})`

type Answer = { readonly status: number; readonly headers: Headers; readonly json: unknown }

const readNothing = 'SELECT seq FROM reading WHERE time < 1'

function faultOf(status: number, what: string, url: string, said = ''): Error {
  const words = `InfluxDB at ${url} answered ${status} when asked to ${what}${said && `: ${said}`}`
  if (status === 401)
    return new MustAct(`${words}. The admin token is not one of its tokens, or is inactive`)
  if (status === 403)
    return new MustAct(
      `${words}. The admin token may not do this: use one with all rights to the organisation (an operator token, or "all access")`,
    )
  return status >= 500 || status === 429 ? new TryAgain(words) : new MustAct(words)
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const textIn = (value: unknown, name: string): string | undefined => {
  const text: unknown = Reflect.get(Object(value), name)
  return typeof text === 'string' ? text : undefined
}
function neededText(value: unknown, name: string): string {
  const text = textIn(value, name)
  if (text === undefined) throw new MustAct(`InfluxDB answered without ${name}`)
  return text
}
const listIn = (value: unknown, name: string): readonly unknown[] => {
  const list: unknown = Reflect.get(Object(value), name)
  return Array.isArray(list) ? list : []
}

/** HTTP 200 of a query may carry an error. */
const isErrorOfStatement = (json: unknown): boolean =>
  textIn(listIn(json, 'results')[0], 'error') !== undefined

function bucketOf(value: unknown): InfluxBucket {
  const [rule] = listIn(value, 'retentionRules')
  const seconds: unknown = Reflect.get(Object(rule), 'everySeconds')
  return {
    id: neededText(value, 'id'),
    name: neededText(value, 'name'),
    keptSeconds: typeof seconds === 'number' ? seconds : 0,
  }
}
