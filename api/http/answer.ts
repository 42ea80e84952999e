import type { ServerResponse } from 'node:http'
import type { Params } from './params.ts'

/** The content of an answer; `app.ts` writes it to the socket. */
export type Answer = {
  /** 200 unless given. */
  readonly status?: number
  readonly type: string
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** Says when it was made, so it never repeats and has no tag. */
  readonly isOnce?: boolean
  /** It answers many requests: its digest and its compressed bytes are kept as long as its body. */
  readonly isKept?: boolean
  /** Its tag, with quotes, where it is not made from `body`; `headers` then says who may keep it. */
  readonly tag?: string
  /** For how many seconds a client need not ask again; 0 unless given: it asks each time. */
  readonly freshSeconds?: number
  /** Instead of `body`: receives the connection once the head is sent, and ends it. */
  readonly follow?: (out: ServerResponse) => void
}

/** For whom the store is read, and until when. */
export type Caller = {
  readonly key: string
  /** sha256 of the key, in hex: its name in bucket `keys`. */
  readonly keyHash: string
  /** Whom the answer is for: the key's own account, or the one an internal caller acts for. */
  readonly account: string
  readonly isInternal: boolean
  /** The dashboard asks for a visitor who is not signed in. */
  readonly isVisitor: boolean
  /** Judges the same key once more. @throws ApiError as the guard does */
  readonly checkAgain: () => void
}

export type Asker = {
  /** Not signed in: uses a pool separate from the accounts'. */
  readonly isVisitor: boolean
  /** What shares a turn: an account, or a visitor's site or address. */
  readonly share: () => string
  /** Aborted when the client has gone. */
  readonly gone: () => AbortSignal
}

export type Request = {
  /** The named parts of the path, decoded. */
  readonly names: Readonly<Record<string, string>>
  readonly params: Params
  /** The media type agreed on, one of the route's. */
  readonly type: string
  /** undefined on a public route. */
  readonly caller: Caller | undefined
  readonly asker: Asker
  /** The client's address, as far as our own proxies report it. */
  readonly network: () => string
  /** An empty text if it was sent empty; in lower case. */
  readonly header: (name: string) => string | undefined
  /**
   * The JSON that was sent, undefined if there is no body; afterwards the caller's key is judged
   * again.
   * @throws ApiError 400, 401, 413, 415
   */
  readonly readBody: () => Promise<unknown>
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export type Route = {
  /** GET unless given, which answers HEAD too. */
  readonly method?: Method
  /** As in `/v1/areas/:area_name`. */
  readonly path: string
  /** All query parameters it accepts. */
  readonly params: readonly string[]
  /** The media types it offers, the usual first. */
  readonly types: readonly string[]
  /** The media type that a parameter requests: it wins over Accept. @throws ApiError 400 */
  readonly typeOf?: (params: Params) => string | undefined
  /** With `typeOf`: those of `types` that it offers for these parameters, the usual first. */
  readonly typesOf?: (params: Params) => readonly string[]
  /** Part of one of our pages, not of the interface that the document describes. */
  readonly isPart?: boolean
  /** Answers without a key. */
  readonly isOpen?: boolean
  /** Its parameter `token` counts in place of a key if none is sent. */
  readonly takesToken?: boolean
  /** Charged only to the minute's quota, not to the day's. */
  readonly isUncharged?: boolean
  /**
   * If given, an address has one answer for as long as this number stays the same: it is cached,
   * and the route is not called again.
   */
  readonly version?: () => number
  readonly answer: (request: Request) => Answer | Promise<Answer>
}

export const jsonType = 'application/json'

export const jsonAnswer = (
  value: unknown,
  rest: Pick<Answer, 'status' | 'headers' | 'isOnce'> = {},
): Answer => ({
  type: jsonType,
  body: Buffer.from(JSON.stringify(value)),
  ...rest,
})
