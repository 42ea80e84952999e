/** Requests to our own server, and to no other. Failures are errors in words. */
import { refusalTextOf } from './account-texts.ts'
import { forgetSession, me, renewCsrf } from './me.ts'
import { learnTime } from './parts/time/clock.ts'
import { language, texts } from './texts.ts'

const { states } = texts.common

/** An answer that is not what was requested. `message` is for people. */
export class AskError extends Error {
  override readonly name = 'AskError'
  /** Of HTTP; 0 without an answer. */
  readonly status: number
  /** The answer's `error.code`, where it has one. */
  readonly code: string
  /** The answer's `error.details`. */
  readonly details: unknown
  /** For how long the server wants to be left alone, ms; 0 where it did not say. */
  readonly retryAfterMs: number
  constructor(message: string, status: number, more: More = {}) {
    super(message)
    this.status = status
    this.code = more.code ?? ''
    this.details = more.details
    this.retryAfterMs = more.retryAfterMs ?? 0
  }
}

type More = { readonly code?: string; readonly details?: unknown; readonly retryAfterMs?: number }

/** Whether the same request may well be answered in a while. */
export const mayPass = (error: unknown): boolean =>
  error instanceof AskError && (error.status === 0 || error.status === 429 || error.status >= 500)

type Method = 'POST' | 'PATCH' | 'PUT' | 'DELETE'
type Options = { readonly signal?: AbortSignal }

/** A page asks again each 20 s or less often, and has its answer or its error before that. */
const readWithinMs = 15_000
/** What changes something has longer: after an error nobody knows whether it did. */
const changeWithinMs = 35_000
/** With its body, over a line as slow as 2G. */
const wholeWithinMs = 120_000

/** @throws AskError */
export async function getJson<T>(path: string, { signal }: Options = {}): Promise<T> {
  // the caller names the type of the answer
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(await textOf(await ask(path, { signal: signal ?? null }), signal)) as T
}

/**
 * Sends JSON with the session's CSRF token.
 * @returns undefined where the answer has no body
 * @throws AskError
 */
export async function sendJson<T>(
  method: Method,
  path: string,
  body?: unknown,
  { signal }: Options = {},
): Promise<T> {
  const send = async (): Promise<Response> =>
    ask(path, {
      method,
      signal: signal ?? null,
      headers: {
        'x-csrf-token': me.value?.csrf ?? '',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  let answer: Response
  try {
    answer = await send()
  } catch (error) {
    // signed in again in another tab: the new session's token is as good
    if (!(error instanceof AskError) || error.code !== 'stale_form') throw error
    if (!(await renewCsrf())) throw error
    answer = await send()
  }
  const text = await textOf(answer, signal)
  // as in getJson
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (text === '' ? undefined : JSON.parse(text)) as T
}

async function textOf(answer: Response, signal?: AbortSignal): Promise<string> {
  try {
    return await answer.text()
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new AskError(states.noAnswer, 0)
  }
}

/** The answer, if its status is 2xx. @throws AskError */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (!headers.has('accept')) headers.set('accept', 'application/json')
  const { method = 'GET', signal } = init
  const slow = new AbortController()
  const timer = setTimeout(() => slow.abort(), method === 'GET' ? readWithinMs : changeWithinMs)
  const ends = [slow.signal, AbortSignal.timeout(wholeWithinMs), ...(signal ? [signal] : [])]
  let answer: Response
  try {
    const credentials = 'same-origin'
    answer = await fetch(path, { ...init, headers, credentials, signal: AbortSignal.any(ends) })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new AskError(slow.signal.aborted ? states.noAnswer : states.unreachable, 0)
  } finally {
    clearTimeout(timer)
  }
  if (!answer.headers.has(keptHeader)) learnTime(answer.headers.get('date'))
  if (answer.ok) return answer
  const refused = await refusal(answer)
  if (refused.code === 'not_signed_in') forgetSession()
  throw refused
}

/** On answers that come from the browser's own store while the server is away. */
export const keptHeader = 'airproof-kept'

type ErrorBody = {
  readonly error?: { readonly code?: string; readonly message?: string; readonly details?: unknown }
}

/** What the server says of these is for programs. */
const ownWords: ReadonlySet<string> = new Set(['too_many_requests', 'overloaded', 'api_away'])

async function refusal(answer: Response): Promise<AskError> {
  let body: ErrorBody = {}
  try {
    body = await answer.json()
  } catch {
    // not our own answer, but a proxy's: only its status is known
  }
  const { code = '', message, details } = body.error ?? {}
  const own = refusalTextOf(code)?.replace('{words}', () => message ?? '')
  // what the server says is English
  const words = own ?? (ownWords.has(code) || language !== 'en' ? undefined : message)
  const seconds = Number(answer.headers.get('retry-after') ?? '')
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : 0
  return new AskError(words ?? inWords(answer.status), answer.status, {
    code,
    details,
    retryAfterMs,
  })
}

function inWords(status: number): string {
  if (status === 401) return states.signInFirst
  if (status === 403) return states.notAllowed
  if (status === 404) return states.nothingHere
  if (status === 429) return states.tooMany
  if (status >= 500) return states.unavailable
  return states.refused(status)
}
