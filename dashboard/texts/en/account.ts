/** The texts of settings and the operator's pages: a chunk that is loaded with them. */
import { operator } from './operator.ts'
import { settings } from './settings.ts'
import { webhooks } from './webhooks.ts'

export const catalogue = { settings, webhooks, operator }
export type AccountTexts = typeof catalogue
