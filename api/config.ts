import type { Limits } from '../core/access/quota.ts'
import type { RateLimit } from '../core/access/rate-limit.ts'
import { minuteMs, secondMs } from '../core/time.ts'
import { readAllCorrections } from '../operate/all-corrections.ts'
import { archiveFolder } from '../operate/archive/archive-folder.ts'
import { readApiAddress, readPublicUrl } from '../runtime/public-url.ts'
import { readSettings, type SettingsSource } from '../runtime/settings.ts'
import type { Correction } from '../schemas/corrections.ts'
import type { Account } from '../schemas/people/account.ts'

export type ApiConfig = {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Our own proxies in front of us: this many entries of X-Forwarded-For are trusted. */
  readonly proxies: number
  readonly network: NetworkSettings
  /** Webhooks may name http, any port and loopback addresses: for development. */
  readonly allowInsecureWebhooks: boolean
  readonly proofs: ProofSettings
  readonly archive: ArchiveSettings
  /** Those of airproof, and the operator's own. */
  readonly corrections: readonly Correction[]
  readonly limits: Readonly<Record<Account['tier'], Limits>>
  /** How often an address may ask whether a page may call. */
  readonly preflights: RateLimit
}

/** What the operator says about the network. */
export type NetworkSettings = {
  /** Also its name in parameters that name an area. */
  readonly name: string
  /** Of the chain, for people; undefined: it is named by its number. */
  readonly chainName: string | undefined
  /** Of the data: an SPDX identifier, or words. */
  readonly licence: string | undefined
  /** Whom those who use the data should name. */
  readonly attribution: string | undefined
  readonly archiveUrl: string | undefined
}

export type ArchiveSettings = {
  readonly folder: string
  /** Anyone may read it, without a key. */
  readonly isOpen: boolean
  /** How often an address may ask then: a query over a year opens a thousand files. */
  readonly requests: RateLimit
}

export type ProofSettings = {
  /** An explorer of the chain, which has `/tx/<hash>`; undefined: none. */
  readonly explorerUrl: string | undefined
  /** The public address of this API, for links to our own proof pages. */
  readonly publicUrl: string
  /** The same setting as the anchor process has: the longest time that a batch is open. */
  readonly anchorIntervalMs: number
  /** How often an address may request proofs without a key. */
  readonly openProofs: RateLimit
}

/** @throws WrongUsage that names the variable */
export function readApiConfig(source: SettingsSource, dataFolder: string): ApiConfig {
  const settings = readSettings(source)
  const { host, port } = readApiAddress(settings)
  const proofsPerMinute = settings.int('AIRPROOF_OPEN_PROOFS_PER_MINUTE')
  const openPerSecond = (proofsPerMinute * secondMs) / minuteMs
  // a free account has fewer requests per day, but may read its usage this often
  const perMinute = settings.int('AIRPROOF_BURST_PREMIUM')
  return Object.freeze({
    host,
    port,
    proxies: settings.int('AIRPROOF_API_PROXIES'),
    proofs: {
      explorerUrl: settings.url('AIRPROOF_EXPLORER_URL'),
      publicUrl: readPublicUrl(settings),
      anchorIntervalMs: settings.durationMs('ANCHOR_INTERVAL'),
      openProofs: {
        perSecond: openPerSecond,
        burst: Math.max(1, proofsPerMinute / 10),
      },
    },
    archive: {
      folder: archiveFolder(source, dataFolder),
      isOpen: settings.yes('AIRPROOF_ARCHIVE_OPEN'),
      requests: { perSecond: 100, burst: 6_000 },
    },
    network: {
      name: settings.text('AIRPROOF_NETWORK_NAME'),
      chainName: settings.text('AIRPROOF_CHAIN_NAME'),
      licence: settings.text('AIRPROOF_DATA_LICENCE'),
      attribution: settings.text('AIRPROOF_ATTRIBUTION'),
      archiveUrl: settings.url('AIRPROOF_ARCHIVE_URL'),
    },
    corrections: readAllCorrections(settings.text('AIRPROOF_CORRECTIONS')),
    limits: {
      free: { perDay: settings.int('AIRPROOF_QUOTA_FREE'), perMinute },
      premium: { perDay: settings.int('AIRPROOF_QUOTA_PREMIUM'), perMinute },
    },
    // a page that uses its account's minute at once asks as often
    preflights: { perSecond: openPerSecond, burst: proofsPerMinute },
    allowInsecureWebhooks: settings.yes('AIRPROOF_ALLOW_INSECURE_WEBHOOKS'),
  })
}
