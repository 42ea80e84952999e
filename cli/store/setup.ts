import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { exitCodes, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { sqliteFileIn } from '../../runtime/machine/store-place.ts'
import { writeInPlace, writePrivateFile } from '../../runtime/private-file.ts'
import { dataFolderOf } from '../../runtime/process/config.ts'
import { readSettings, secretLines } from '../../runtime/settings.ts'
import { rollupBucketOf } from '../../store/influx/influx.ts'
import { sqliteHasRows } from '../../store/sqlite/database-file.ts'
import type { CommandContext } from '../shell/command.ts'
import { envFile, otherIn, readEnvFile, type Wanted, writeEnvFile } from '../shell/env-file.ts'
import { withChangeKept } from '../shell/instance.ts'
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

/** In the data folder, or where --secrets names. */
export const tokenFiles: readonly string[] = Object.keys(tokens)

/** A rotation is kept in the operators' log; the first set-up may come before there is any. */
export const setup = (context: CommandContext): Promise<number> =>
  ['rotate', 'finish'].some((flag) => context.flags[flag] === true)
    ? withChangeKept(context, () => setUp(context))
    : setUp(context)

/** Every step finds what the former run did, so it may be interrupted anywhere and run again. */
async function setUp(context: CommandContext): Promise<number> {
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
    const file = join(folder, name)
    done.push(`${file}: ${await ensureToken(admin, file, token)}`)
    if (flags['rotate'] === true) done.push(`${file}: ${await rotateToken(admin, file, token)}`)
    if (flags['finish'] === true || flags['now'] === true)
      done.push(`${file}: ${await dropFormerToken(admin, file, token)}`)
  }
  if (secrets === undefined) done.push(`${envFile}: ${writeSettings(wanted)}`)
  if (flags['json'] === true)
    print(JSON.stringify({ url, org, bucket, folder, files: tokenFiles, done }))
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
  const [known = ''] = existsSync(file) ? secretLines(file) : []
  if (known !== '' && (await admin.may(known, wanted))) return 'was there, and works'
  await admin.deleteInactive(wanted.orgId, wanted.description)
  const made = await admin.makeInactive(wanted)
  writePrivateFile(file, `${made.token}\n`)
  await admin.activate(made, wanted)
  return known === '' ? 'made' : 'the token in it did not work: made again'
}

/** Beside the token's file: the one that will be in it, and the one that was. */
const asideOf = (file: string) => ({ next: `${file}.next`, former: `${file}.former` })
const readToken = (file: string): string | undefined =>
  existsSync(file) ? secretLines(file)[0] : undefined

/**
 * Another token in the file, while the former one works. Each is in a file before it matters, so what a
 * killed run left is found, and used or deleted.
 */
async function rotateToken(admin: InfluxAdmin, file: string, wanted: WantedToken): Promise<string> {
  const aside = asideOf(file)
  const present = readToken(file)
  const former = readToken(aside.former)
  if (former === undefined || former === present) {
    const left = readToken(aside.next)
    const isGood = left !== undefined && left !== present && (await admin.may(left, wanted))
    const next = isGood ? left : await makeNext()
    writePrivateFile(aside.former, `${present}\n`)
    writeInPlace(file, `${next}\n`)
  }
  rmSync(aside.next, { force: true })
  return 'has a new token; the former one works until `--finish`'

  async function makeNext(): Promise<string> {
    await admin.deleteInactive(wanted.orgId, wanted.description)
    const made = await admin.makeInactive(wanted)
    writePrivateFile(aside.next, `${made.token}\n`)
    await admin.activate(made, wanted)
    return made.token
  }
}

async function dropFormerToken(
  admin: InfluxAdmin,
  file: string,
  wanted: WantedToken,
): Promise<string> {
  const { former: formerFile } = asideOf(file)
  const former = readToken(formerFile)
  if (former === undefined) return 'no rotation is under way'
  if (former === readToken(file))
    throw new MustAct(`${file} has no new token yet: run the command with --rotate again`)
  const isGood = await admin.may(former, wanted)
  if (isGood) await admin.deleteToken(wanted, former)
  if (isGood && (await admin.may(former, wanted)))
    throw new MustAct(
      `the token in ${formerFile} still works, and InfluxDB has several of that name: delete it there (\`influx auth list\`, \`influx auth delete\`), and run this again`,
    )
  rmSync(formerFile)
  return isGood ? 'the former token is deleted' : 'the former token had been deleted'
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
