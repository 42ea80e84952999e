import type { Settings } from './settings.ts'

/**
 * The API's public address, for links: AIRPROOF_PUBLIC_URL, or the address at which the API listens.
 */
export function readPublicUrl(settings: Settings): string {
  const { host, port } = readApiAddress(settings)
  return (
    settings.url('AIRPROOF_PUBLIC_URL') ??
    `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  )
}

/** Where the API listens. */
export const readApiAddress = (settings: Settings): { host: string; port: number } => ({
  host: settings.text('AIRPROOF_API_HOST'),
  port: settings.port('AIRPROOF_API_PORT'),
})
