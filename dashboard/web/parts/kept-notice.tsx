import { keptAtMs } from '../offline.ts'
import { format, texts } from '../texts.ts'
import { networkZone } from './time/time-zone.ts'

/** Above every page while it shows what was last seen. */
export function KeptNotice() {
  const ms = keptAtMs.value
  if (ms === null) return null
  const time = format.date(ms, { dateStyle: 'medium', timeStyle: 'short' }, networkZone.value)
  return (
    <p class="notice warn" role="status">
      {texts.city.kept(time)}
    </p>
  )
}
