import { env } from 'node:process'
import type { Environment } from '../runtime/settings.ts'

/** For the tools that npm starts. */
export const environment: Environment = env
