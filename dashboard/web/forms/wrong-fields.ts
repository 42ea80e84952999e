import { accountTexts } from '../account-texts.ts'
import { AskError } from '../data.ts'

/**
 * The faults of a form's fields, as the server reports them.
 * @returns by the field's name; empty where the error is of another kind
 */
export function wrongFieldsOf(error: unknown): ReadonlyMap<string, string> {
  const wrong = new Map<string, string>()
  const details = error instanceof AskError ? Object(error.details) : {}
  const fields: unknown = details['fields']
  if (!Array.isArray(fields)) return wrong
  for (const one of fields) {
    const { field, expected }: { field?: unknown; expected?: unknown } = Object(one)
    if (typeof field === 'string' && typeof expected === 'string')
      wrong.set(field, accountTexts.settings.forms.fault(field, expected))
  }
  return wrong
}
