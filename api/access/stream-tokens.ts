/**
 * A token opens a stream where no header can be set: a browser's `EventSource` has only an address,
 * and addresses end up in histories and in logs of proxies. So it is not the key: it opens streams
 * and nothing else, for a minute, and counts as its key does, which it is revoked with.
 *
 * Nothing is stored. The token is sealed with the installation's key, so every process can open it
 * and no other program can read or make one; inside is the key's hash, as bucket `keys` has it.
 */
import { secondMs } from '../../core/time.ts'
import type { SecretBox } from '../../runtime/secrets/seal-secret.ts'
import { unavailable } from '../http/api-error.ts'
import { refusedToken } from './key-guard.ts'

export type StreamTokens = {
  /** @param keyHash sha256 of the key, in hex @throws ApiError 503 if it cannot be sealed */
  readonly make: (
    keyHash: string,
  ) => Promise<{ readonly token: string; readonly expiresMs: number }>
  /** @returns the hash of its key @throws ApiError 401, or 503 if it cannot be opened */
  readonly open: (token: string) => Promise<string>
}

type Options = {
  readonly box: () => Promise<SecretBox>
  readonly nowMs: () => number
}

/** How long a stream can be opened with it; an open stream goes on. */
const validMs = 60 * secondMs
const prefix = 'aqs_'
/** Bound into the seal: nothing else that the installation's key sealed passes as a token. */
const purpose = 'stream token'
/** A token has some 150 characters. */
const longest = 400

export function streamTokens({ box, nowMs }: Options): StreamTokens {
  const opened = async (): Promise<SecretBox> => {
    try {
      return await box()
    } catch (cause) {
      throw unavailable('stream_unavailable', 'tokens of streams cannot be used right now', cause)
    }
  }
  return {
    make: async (keyHash) => {
      const expiresMs = nowMs() + validMs
      const sealed = (await opened()).seal(`${expiresMs}.${keyHash}`, purpose)
      return { token: prefix + sealed, expiresMs }
    },
    open: async (token) => {
      if (!token.startsWith(prefix) || token.length > longest) throw refusedToken()
      const content = contentOf(await opened(), token.slice(prefix.length))
      const [, expires = '', keyHash = ''] = /^(\d+)\.([\da-f]{64})$/.exec(content) ?? []
      if (keyHash === '' || nowMs() >= Number(expires)) throw refusedToken()
      return keyHash
    },
  }
}

function contentOf(box: SecretBox, sealed: string): string {
  try {
    return box.open(sealed, purpose)
  } catch {
    throw refusedToken()
  }
}
