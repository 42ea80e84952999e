/** What a list or a command says about the signatures of a sensor. */
import { dayMs } from '../core/time.ts'
import { WrongUsage } from '../runtime/exit.ts'
import type { SensorSettings } from './sensor-settings.ts'

/** A device that is far away is visited within that time. */
export const defaultOverlapMs = dayMs

/** @throws WrongUsage */
export function signatureOf(text: string | undefined): SensorSettings['signature'] {
  if (text === undefined || text === 'required' || text === 'optional') return text
  throw new WrongUsage(`a signature is required or optional, and not "${text}"`)
}
