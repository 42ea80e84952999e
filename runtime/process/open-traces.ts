import type { Logger } from '../log.ts'
import { readSettings, type SettingsSource } from '../settings.ts'
import { readIdPrefix } from './network-settings.ts'

/** Loads OpenTelemetry only where a collector is set: otherwise no process pays for it. */
export async function openTraces(
  source: SettingsSource,
  { name, log }: { readonly name: string; readonly log: Logger },
): Promise<AsyncDisposable | undefined> {
  const endpoint = readSettings(source).url('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (endpoint === undefined) return undefined
  const { openOtel } = await import('../otel.ts')
  return openOtel({ endpoint, name, idPrefix: readIdPrefix(source), log })
}
