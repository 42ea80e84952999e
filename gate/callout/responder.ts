/**
 * Answers the servers' question which clients may come in: NATS's auth callout. Each answer is a
 * token for the server that holds another token for the user. Several gates share the questions
 * (queue group); without a gate, connections stay open and new ones wait.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { airAccount, sensorsAccount } from '../../runtime/engines/nats-users.ts'
import type { AllowedSubjects } from './allowed-subjects.ts'
import { type AuthRequest, readAuthRequest } from './auth-request.ts'
import type { JwtSigner } from './nats-jwt.ts'

export type SignIn =
  | {
      readonly allowed: AllowedSubjects
      /** When the server shall end the connection, ms since the epoch; undefined: never. */
      readonly untilMs: number | undefined
    }
  /** Why not: a word for the metrics and the sensor's page. */
  | { readonly denied: string }

type Options = {
  /** Signed in to the callout's account. */
  readonly nc: NatsConnection
  readonly signerFor: (serverTags: readonly string[]) => JwtSigner
  readonly judge: (request: AuthRequest) => SignIn | Promise<SignIn>
  readonly nowMs: () => number
  readonly onError: (error: unknown) => void
}

const questionSubject = '$SYS.REQ.USER.AUTH'
const queueGroup = 'gate'

export type Responder = AsyncDisposable

/** Resolves when the server knows that we answer. */
export async function openResponder(options: Options): Promise<Responder> {
  const { nc, onError } = options
  const subscription = nc.subscribe(questionSubject, {
    queue: queueGroup,
    callback: (error, message) => {
      if (error) onError(error)
      else void answer(message, options).catch(onError)
    },
  })
  await nc.flush()
  return {
    // requests that arrived already are answered
    [Symbol.asyncDispose]: async () => {
      if (!nc.isClosed()) await subscription.drain()
    },
  }
}

async function answer(
  message: Msg,
  { signerFor, judge, nowMs, onError }: Omit<Options, 'nc'>,
): Promise<void> {
  const request = readAuthRequest(message.string())
  if (request === undefined) return
  const { userKey, serverId, serverTags } = request
  const signer = signerFor(serverTags)
  const signIn = await judgeOrDeny(request, { judge, onError })
  const now = nowMs()
  const verdict =
    'denied' in signIn
      ? { error: `sign-in of a sensor: ${signIn.denied}` }
      : { jwt: signer.sign(userClaims(request, signIn), now) }
  const nats = { ...verdict, type: 'authorization_response', version: 2 }
  message.respond(signer.sign({ sub: userKey, aud: serverId, nats }, now))
}

/** The server gets an answer also when judging fails: without one the device would wait. */
async function judgeOrDeny(
  request: AuthRequest,
  { judge, onError }: Pick<Options, 'judge' | 'onError'>,
): Promise<SignIn> {
  try {
    return await judge(request)
  } catch (error) {
    onError(error)
    return { denied: 'failed' }
  }
}

const userClaims = (
  { user, userKey, protocol }: AuthRequest,
  { allowed, untilMs }: Exclude<SignIn, { denied: string }>,
) => ({
  sub: userKey,
  aud: protocol === 'mqtt' ? airAccount : sensorsAccount,
  name: user,
  ...(untilMs === undefined ? {} : { exp: Math.floor(untilMs / 1_000) }),
  nats: {
    pub: { allow: allowed.publish },
    sub: { allow: allowed.subscribe },
    subs: -1,
    data: -1,
    payload: -1,
    type: 'user',
    version: 2,
  },
})
