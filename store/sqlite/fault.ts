import { StoreMisconfigured, StoreUnavailable } from '../store.ts'

/** An error as it crosses a thread: `bug` is anything that the store does not foresee. */
export type Fault = {
  readonly kind: 'unavailable' | 'misconfigured' | 'bug'
  readonly message: string
}

/** SQLite's primary result codes, https://www.sqlite.org/rescode.html */
const sqlite = {
  perm: 3,
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  interrupted: 9,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  auth: 23,
  notADatabase: 26,
} as const

/** @param file named in the message: a person must find it */
export function faultOf(error: unknown, file: string): Fault {
  const { message } = error instanceof Error ? error : new Error(String(error))
  if (error instanceof StoreUnavailable) return { kind: 'unavailable', message }
  if (error instanceof StoreMisconfigured) return { kind: 'misconfigured', message }
  switch (primaryCode(error)) {
    case sqlite.full:
      return { kind: 'unavailable', message: `the disk of ${file} is full (${message})` }
    case sqlite.ioError:
      return { kind: 'unavailable', message: `${file} could not be read or written (${message})` }
    case sqlite.busy:
    case sqlite.locked:
      return { kind: 'unavailable', message: `${file} is held by another process (${message})` }
    case sqlite.noMemory:
    case sqlite.interrupted:
      return { kind: 'unavailable', message: `${file}: ${message}` }
    case sqlite.corrupt:
    case sqlite.notADatabase:
      return {
        kind: 'misconfigured',
        message: `${file} is damaged or no SQLite file (${message}): restore it from a backup, or move it away to start an empty one`,
      }
    case sqlite.cannotOpen:
    case sqlite.readOnly:
    case sqlite.perm:
    case sqlite.auth:
      return {
        kind: 'misconfigured',
        message: `${file} cannot be opened (${message}): its folder must exist and be writable by this process`,
      }
    default:
      return { kind: 'bug', message: `${file}: ${message}` }
  }
}

export function errorOf({ kind, message }: Fault): Error {
  switch (kind) {
    case 'unavailable':
      return new StoreUnavailable(message)
    case 'misconfigured':
      return new StoreMisconfigured(message)
    case 'bug':
      return new Error(message)
  }
}

/** The low byte of an extended result code, or undefined where SQLite did not speak. */
const primaryCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined

/** Another process holds what was asked for. */
export const isBusy = (error: unknown): boolean => primaryCode(error) === sqlite.busy
