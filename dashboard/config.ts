import { isIP } from 'node:net'
import { join } from 'node:path'
import { WrongUsage } from '../runtime/exit.ts'
import { freshSecret } from '../runtime/fresh-lines.ts'
import { type NetworkSettings, readNetworkSettings } from '../runtime/process/network-settings.ts'
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
  readonly network: NetworkSettings
  readonly map: MapSettings
  /** Of the data, as the API names it: an SPDX identifier, or words. */
  readonly licence: string | undefined
  /** Whom those who use the data should name. */
  readonly attribution: string | undefined
  readonly mail: MailSettings
}

export type MapSettings = {
  /** Tiles of others, in place of a file: an address with `{z}/{x}/{y}`, or of a PMTiles file. */
  readonly tiles: string | undefined
  /** A PMTiles file; `none`: no ground at all. */
  readonly file: string | undefined
  /** What the licence of the map asks for; undefined: what the file says. */
  readonly attribution: string | undefined
}

export type Contact = { readonly href: string; readonly text: string }

export type MailSettings = {
  /** `smtp:` or `smtps:` with user and password; undefined: mails are written to files. */
  readonly smtpUrl: string | undefined
  /** The same, as its file has it now. */
  readonly smtpUrlNow: () => string
  /** Mails may be sent to another machine without TLS. */
  readonly allowPlain: boolean
  readonly from: string
  /** The folder for mails where there is no mail server. */
  readonly folder: string
}

/** @throws WrongUsage that names the variable */
export function readDashboardConfig(source: SettingsSource, dataFolder: string): DashboardConfig {
  const settings = readSettings(source)
  const host = settings.text('AIRPROOF_DASHBOARD_HOST')
  const port = settings.port('AIRPROOF_DASHBOARD_PORT')
  const ownUrl = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  const publicUrl = settings.url('AIRPROOF_DASHBOARD_URL') ?? ownUrl
  const apiPort = settings.port('AIRPROOF_API_PORT')
  const apiUrl = settings.url('AIRPROOF_API_URL') ?? `http://127.0.0.1:${apiPort}`
  const smtpUrl = readSmtpUrl(settings.secret('SMTP_URL'))
  return Object.freeze({
    host,
    port,
    publicUrl: originOf('AIRPROOF_DASHBOARD_URL', publicUrl),
    apiUrl: originOf('AIRPROOF_API_URL', apiUrl),
    publicApiUrl: originOf('AIRPROOF_PUBLIC_URL', settings.url('AIRPROOF_PUBLIC_URL') ?? apiUrl),
    proxies: settings.int('AIRPROOF_DASHBOARD_PROXIES'),
    pages: settings.text('AIRPROOF_DASHBOARD_PAGES'),
    contact: contactOf(settings.text('AIRPROOF_CONTACT')),
    licence: settings.text('AIRPROOF_DATA_LICENCE'),
    attribution: settings.text('AIRPROOF_ATTRIBUTION'),
    network: readNetworkSettings(source),
    map: readMap(settings),
    mail: {
      smtpUrl,
      smtpUrlNow: freshSmtpUrl(settings.secretFile('SMTP_URL'), smtpUrl ?? ''),
      allowPlain: settings.yes('AIRPROOF_ALLOW_PLAIN_SMTP'),
      from: settings.text('MAIL_FROM'),
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

function readMap(settings: ReturnType<typeof readSettings>): MapSettings {
  const tiles = settings.text('AIRPROOF_TILES_URL')
  const attribution = settings.text('AIRPROOF_MAP_ATTRIBUTION')
  const file = settings.text('AIRPROOF_MAP')
  if (tiles === undefined) return { tiles, file, attribution }
  const url = URL.parse(tiles)
  const isFit = url?.protocol === 'https:' || url?.hostname === '127.0.0.1'
  const hasPlaces = ['{z}', '{x}', '{y}'].every((part) => tiles.includes(part))
  // these would be in the policy of every page
  if (!isFit || /[\s;,'"]/.test(tiles) || !(hasPlaces || url.pathname.endsWith('.pmtiles')))
    throw new WrongUsage(
      'AIRPROOF_TILES_URL must be like https://tiles.example.org/{z}/{x}/{y}.png, or the https address of a .pmtiles file',
    )
  if (attribution === undefined)
    throw new WrongUsage(
      'AIRPROOF_TILES_URL needs AIRPROOF_MAP_ATTRIBUTION: name the source as its licence asks for',
    )
  return { tiles, file, attribution }
}

function contactOf(text: string | undefined): Contact | undefined {
  if (text === undefined) return undefined
  if (URL.parse(text)?.protocol === 'https:') return { href: new URL(text).href, text }
  // without characters that have another meaning in a `mailto:`
  if (/^[\w.+-]+@[\w.-]+$/.test(text)) return { href: `mailto:${text}`, text }
  throw new WrongUsage('AIRPROOF_CONTACT must be an email address or an https address')
}

/** A new one that is not a URL is not used. */
function freshSmtpUrl(file: string | undefined, known: string): () => string {
  if (file === undefined) return () => known
  const now = freshSecret(file, known)
  return () => {
    try {
      return readSmtpUrl(now()) ?? known
    } catch {
      return known
    }
  }
}

/** The address holds a password, so it is not repeated where it is wrong. */
function readSmtpUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isFit = url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ''
  if (isFit) return text
  throw new WrongUsage('SMTP_URL must be like smtp://user:password@mail.example.org:587')
}
