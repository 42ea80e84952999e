export {
  type Network,
  readNetwork,
  type Verification,
  type VerifyOptions,
  verifyBundle,
} from '../verifier/airproof-verify.js'
export { type Airproof, airproof, type Settings } from './client.ts'
export { ApiError, Disconnected } from './errors.ts'
export type { Pages } from './pages.ts'
export type { RetryBounds } from './retry.ts'
export type { components, operations, paths } from './schema.ts'
export type { StreamEvent } from './stream.ts'
