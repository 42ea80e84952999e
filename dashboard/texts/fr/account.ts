import type { AccountTexts } from '../en/account.ts'
import { operator } from './operator.ts'
import { settings } from './settings.ts'
import { spaced } from './spaced.ts'
import { webhooks } from './webhooks.ts'

export const catalogue: AccountTexts = spaced({ settings, webhooks, operator })
