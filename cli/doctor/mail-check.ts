import { readDashboardConfig } from '../../dashboard/config.ts'
import { smtpTrouble } from '../../dashboard/mail/post.ts'
import type { Check } from './check.ts'
import { broken, ok } from './finding.ts'

const withinMs = 1_500

export const mailCheck: Check = {
  name: 'mail',
  needs: 'nothing',
  isBeforeUp: true,
  run: async ({ source, config }) => {
    const { mail } = readDashboardConfig(source, config.dataFolder)
    const { smtpUrl, allowPlain, folder } = mail
    if (smtpUrl === undefined) return [ok(`SMTP_URL is not set: emails are files in ${folder}`)]
    const { hostname } = new URL(smtpUrl)
    const patience = { connectMs: withinMs, silentMs: withinMs, allowPlain }
    const why = await smtpTrouble(smtpUrl, patience)
    return [
      why === undefined
        ? ok(`${hostname} lets us sign in and send`)
        : broken(
            `${hostname} takes no emails: ${why}`,
            'correct SMTP_URL: address, user, password',
          ),
    ]
  },
}
