import { accountTexts } from '../../../account-texts.ts'

export type AuditEvent = {
  readonly at: string
  readonly event: string
  readonly address?: string
  readonly details?: Readonly<Record<string, string | number>>
}

type Words = Readonly<Record<string, string>>
const {
  auditEvents,
  auditDetails: names,
  auditValues,
}: Readonly<Record<'auditEvents' | 'auditDetails' | 'auditValues', Words>> = accountTexts.settings

/** `key_created` → `Key created`, also of a kind that is not known here. */
export function auditWords({ event }: AuditEvent): string {
  const words = event.replaceAll('_', ' ')
  return auditEvents[event] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** `name: my laptop, key: key_…` */
export const auditDetails = ({ details = {} }: AuditEvent): string =>
  Object.entries(details)
    .map(([name, value]) => {
      const words = typeof value === 'string' && name !== 'name' ? auditValues[value] : undefined
      return `${names[name] ?? name.replaceAll('_', ' ')}: ${words ?? value}`
    })
    .join(', ')
