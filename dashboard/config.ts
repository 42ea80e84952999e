import { isIP } from 'node:net'
import { join } from 'node:path'
import { WrongUsage } from '../runtime/exit.ts'
import { readSettings, type SettingsSource } from '../runtime/settings.ts'

export type DashboardConfig = {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /**
   * Where people reach the dashboard, without a slash at its end: the beginning of links in mails.
   */
  readonly publicUrl: string
  /** The API as this process reaches it, without a slash at its end. */
  readonly apiUrl: string
  /** The API as customers' programs reach it. */
  readonly publicApiUrl: string
  /** Our own proxies in front of us: this number of entries of X-Forwarded-For is trusted. */
  readonly proxies: number
  /** Where the built pages are; undefined: where `npm run build` puts them. */
  readonly pages: string | undefined
  /** How people reach the operator: an email address or a page. */
  readonly contact: Contact | undefined
  readonly mail: MailSettings
}

export type Contact = { readonly href: string; readonly text: string }

export type MailSettings = {
  /** `smtp:` or `smtps:` with user and password; undefined: mails are written to files. */
  readonly smtpUrl: string | undefined
  /** Mails may be sent to another machine without TLS. */
  readonly allowPlain: boolean
  readonly from: string
  /** The folder for mails where there is no mail server. */
  readonly folder: string
}

/** @throws WrongUsage that names the variable */
export function readDashboardConfig(source: SettingsSource, dataFolder: string): DashboardConfig {
  const settings = readSettings(source)
  const host = settings.text('AIRPROOF_DASHBOARD_HOST', { default: '127.0.0.1' })
  const port = settings.port('AIRPROOF_DASHBOARD_PORT', { default: 8081 })
  const web = ['http:', 'https:']
  const ownUrl = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  const publicUrl = settings.url('AIRPROOF_DASHBOARD_URL', web, { default: ownUrl })
  const apiPort = settings.port('AIRPROOF_API_PORT', { default: 8080 })
  const apiUrl = settings.url('AIRPROOF_API_URL', web, { default: `http://127.0.0.1:${apiPort}` })
  return Object.freeze({
    host,
    port,
    publicUrl: originOf('AIRPROOF_DASHBOARD_URL', publicUrl),
    apiUrl: originOf('AIRPROOF_API_URL', apiUrl),
    publicApiUrl: originOf(
      'AIRPROOF_PUBLIC_URL',
      settings.url('AIRPROOF_PUBLIC_URL', web, { default: apiUrl }),
    ),
    proxies: settings.int('AIRPROOF_DASHBOARD_PROXIES', { default: 0, max: 10 }),
    pages: settings.text('AIRPROOF_DASHBOARD_PAGES'),
    contact: contactOf(settings.text('AIRPROOF_CONTACT')),
    mail: {
      smtpUrl: readSmtpUrl(settings.secret('SMTP_URL')),
      allowPlain: settings.yes('AIRPROOF_ALLOW_PLAIN_SMTP'),
      from: settings.text('MAIL_FROM', { default: 'airproof <airproof@localhost>' }),
      folder: join(dataFolder, 'mail'),
    },
  })
}

/** Pages and cookies belong to a whole origin, so an address with a path would not do. */
function originOf(name: string, text: string): string {
  const { origin, pathname, search } = new URL(text)
  if (pathname === '/' && search === '') return origin
  throw new WrongUsage(`${name} must be an address without a path, such as ${origin}`)
}

function contactOf(text: string | undefined): Contact | undefined {
  if (text === undefined) return undefined
  if (URL.parse(text)?.protocol === 'https:') return { href: new URL(text).href, text }
  // without characters that have another meaning in a `mailto:`
  if (/^[\w.+-]+@[\w.-]+$/.test(text)) return { href: `mailto:${text}`, text }
  throw new WrongUsage('AIRPROOF_CONTACT must be an email address or an https address')
}

/** The address holds a password, so it is not repeated where it is wrong. */
function readSmtpUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isFit = url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ''
  if (isFit) return text
  throw new WrongUsage('SMTP_URL must be like smtp://user:password@mail.example.org:587')
}
