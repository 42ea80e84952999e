/** Requests to our own server, and to no other. Failures are errors in words. */
import { me } from './me.ts'

/** An answer that is not what was requested. `message` is for people. */
export class AskError extends Error {
  override readonly name = 'AskError'
  /** Of HTTP; 0 without an answer. */
  readonly status: number
  /** The answer's `error.code`, where it has one. */
  readonly code: string
  /** The answer's `error.details`. */
  readonly details: unknown
  constructor(message: string, status: number, code = '', details?: unknown) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

type Method = 'POST' | 'PATCH' | 'PUT' | 'DELETE'
type Options = { readonly signal?: AbortSignal }

/** @throws AskError */
export async function getJson<T>(path: string, { signal }: Options = {}): Promise<T> {
  // the caller names the type of the answer
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await (await ask(path, { signal: signal ?? null })).json()) as T
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
  const answer = await ask(path, {
    method,
    signal: signal ?? null,
    headers: {
      'x-csrf-token': me.value?.csrf ?? '',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  // as in getJson
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** The answer, if its status is 2xx. @throws AskError */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (!headers.has('accept')) headers.set('accept', 'application/json')
  let answer: Response
  try {
    answer = await fetch(path, { ...init, headers, credentials: 'same-origin' })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new AskError('The server cannot be reached. Check the connection and try again.', 0)
  }
  if (answer.ok) return answer
  throw await refusal(answer)
}

type ErrorBody = {
  readonly error?: { readonly code?: string; readonly message?: string; readonly details?: unknown }
}

async function refusal(answer: Response): Promise<AskError> {
  let body: ErrorBody = {}
  try {
    body = await answer.json()
  } catch {
    // not our own answer, but a proxy's: only its status is known
  }
  const { code = '', message, details } = body.error ?? {}
  return new AskError(message ?? inWords(answer.status), answer.status, code, details)
}

function inWords(status: number): string {
  if (status === 401) return 'Sign in to see this.'
  if (status === 403) return 'This account may not see this.'
  if (status === 404) return 'There is nothing here.'
  if (status === 429) return 'Too many requests. Wait a little and try again.'
  if (status >= 500) return 'The server has a problem. Try again in a minute.'
  return `The server refused this (${status}).`
}
