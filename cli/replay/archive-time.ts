import { parseIso } from '../../core/iso-time.ts'

/** A timestamp of an archive: UTC where it names no offset, which is then added as `Z`. */
export function archiveTime(text: string): {
  readonly timestamp: string
  readonly timeMs: number | undefined
} {
  const verdict = parseIso(text)
  if ('timeMs' in verdict) return { timestamp: text, timeMs: verdict.timeMs }
  return verdict.asUtcMs === undefined
    ? { timestamp: text, timeMs: undefined }
    : { timestamp: `${text}Z`, timeMs: verdict.asUtcMs }
}
