export type AuditEvent = {
  readonly at: string
  readonly event: string
  readonly address?: string
  readonly details?: Readonly<Record<string, string | number>>
}

/** `key_created` → `Key created` */
export function auditWords({ event }: AuditEvent): string {
  const words = event.replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** `name: my laptop, key: key_…` */
export const auditDetails = ({ details = {} }: AuditEvent): string =>
  Object.entries(details)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`)
    .join(', ')
