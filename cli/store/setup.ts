import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { exitCodes, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { sqliteFileIn } from '../../runtime/machine/store-place.ts'
import { writePrivateFile } from '../../runtime/private-file.ts'
import { dataFolderOf } from '../../runtime/process/config.ts'
import { readSettings } from '../../runtime/settings.ts'
import { rollupBucketOf } from '../../store/influx/influx.ts'
import { sqliteHasRows } from '../../store/sqlite/has-rows.ts'
import type { CommandContext } from '../shell/command.ts'
import { envFile, otherIn, readEnvFile, type Wanted, writeEnvFile } from '../shell/env-file.ts'
import { exactWords, textFlag } from '../shell/words.ts'
import {
  type InfluxAdmin,
  type InfluxBucket,
  influxAdmin,
  type WantedToken,
} from './influx-admin.ts'

/** Each file is named after what its token can do. */
const tokens = {
  'influx-write-token': { actions: ['read', 'write'], words: 'reads and writes' },
  'influx-read-token': { actions: ['read'], words: 'reads' },
} as const

/** Every step finds what the former run did, so it may be interrupted anywhere and run again. */
export async function setup(context: CommandContext): Promise<number> {
  const { print, flags } = context
  exactWords(context.words.slice(1))
  const settings = readSettings({ ...context, flags: { ...flags, 'influx-url': flags['url'] } })
  const url = settings.url('INFLUX_URL')
  if (url === undefined) throw new WrongUsage('--url is needed: where InfluxDB answers')
  const org = textFlag(flags, 'org') ?? settings.text('INFLUX_ORG')
  const bucket = textFlag(flags, 'bucket') ?? settings.text('INFLUX_BUCKET')
  const admin = influxAdmin(withoutLogin(url), adminToken(context))
  const dataFolder = dataFolderOf(context)
  const secrets = textFlag(flags, 'secrets')
  const folder = secrets ?? dataFolder
  const wanted = {
    INFLUX_URL: url,
    INFLUX_ORG: org,
    INFLUX_BUCKET: bucket,
    INFLUX_TOKEN_FILE: fromHere(join(folder, 'influx-write-token')),
    INFLUX_READ_TOKEN_FILE: fromHere(join(folder, 'influx-read-token')),
  }
  if (secrets === undefined) refuseOtherSettings(wanted)

  const orgId = await admin.findOrg(org)
  const done: string[] = []
  const buckets: InfluxBucket[] = []
  for (const name of [bucket, rollupBucketOf(bucket)]) {
    const known = await admin.findBucket(orgId, name)
    if (known !== undefined && known.keptSeconds > 0) throw otherRetention(known)
    buckets.push(known ?? (await admin.makeBucket(orgId, name)))
    done.push(`bucket ${name}: ${known === undefined ? 'made, kept for ever' : 'was there'}`)
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, { actions, words }] of Object.entries(tokens)) {
    const description = `airproof: ${words} ${bucket}`
    const token = { orgId, buckets, actions, description }
    done.push(`${join(folder, name)}: ${await ensureToken(admin, join(folder, name), token)}`)
  }
  if (secrets === undefined) done.push(`${envFile}: ${writeSettings(wanted)}`)
  if (flags['json'] === true)
    print(JSON.stringify({ url, org, bucket, folder, files: Object.keys(tokens), done }))
  else for (const line of done) print(line)
  if (secrets === undefined && flags['json'] !== true) {
    const hasHistory = sqliteHasRows(sqliteFileIn(dataFolder))
    print(
      hasHistory
        ? 'this folder has history in SQLite: run `airproof store copy --from sqlite --to influx`, then start again'
        : 'the next `airproof up` stores its readings there',
    )
  }
  return exitCodes.done
}

function adminToken({ env, flags }: CommandContext): string {
  const named = {
    INFLUX_ADMIN_TOKEN: textFlag(flags, 'admin-token') ?? env['INFLUX_ADMIN_TOKEN'],
    INFLUX_ADMIN_TOKEN_FILE: textFlag(flags, 'admin-token-file') ?? env['INFLUX_ADMIN_TOKEN_FILE'],
  }
  const token = readSettings({ env: named, flags: {} }).secret('INFLUX_ADMIN_TOKEN')
  if (token !== undefined) return token
  throw new WrongUsage(
    '--admin-token-file is needed: a file with a token that may make buckets and tokens (InfluxDB shows one when it is set up; `influx auth create --all-access` makes another)',
  )
}

/** A token that works stays. The new one is in its file before it lets anyone in. */
async function ensureToken(admin: InfluxAdmin, file: string, wanted: WantedToken): Promise<string> {
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (known !== '' && (await admin.may(known, wanted))) return 'was there, and works'
  await admin.deleteInactive(wanted.orgId, wanted.description)
  const { id, token } = await admin.makeInactive(wanted)
  writePrivateFile(file, `${token}\n`)
  await admin.activate(id)
  return known === '' ? 'made' : 'the token in it did not work: made again'
}

const otherRetention = ({ name, keptSeconds }: InfluxBucket): MustAct =>
  new MustAct(
    `the bucket ${name} is there and drops what is older than ${keptSeconds / 3600} h, while airproof keeps everything (AIRPROOF_RAW_DAYS bounds it, after the archive has it): \`influx bucket update --retention 0\`, or choose another with --bucket`,
  )

/** @throws MustAct before anything is made, if a setting names something else */
function refuseOtherSettings(wanted: Wanted): void {
  const other = [...otherIn(wanted)]
  if (readEnvFile()['INFLUX_TOKEN'] !== undefined) other.push('INFLUX_TOKEN')
  if (other.length === 0) return
  throw new MustAct(
    `${envFile} has another ${other.join(', ')}, which is not written over: remove ${other.length === 1 ? 'that line' : 'those lines'} first, or give the flags as they are there`,
  )
}

function writeSettings(wanted: Wanted): string {
  const written = writeEnvFile(wanted)
  return written.length === 0 ? 'has these settings already' : `written: ${written.join(', ')}`
}

/** The processes are started where `.env` is. */
const fromHere = (file: string): string => {
  const path = relative('.', file)
  return path.startsWith('..') ? file : path
}

function withoutLogin(url: string): string {
  const parsed = new URL(url)
  parsed.username = ''
  parsed.password = ''
  return parsed.href
}
