import type { NatsConnection } from '@nats-io/transport-node'
import { type AuditReport, audit, type RowSource } from '../../anchor/audit/audit.ts'
import { countedOf, partsOf } from '../../anchor/audit/parts.ts'
import { isBlockOf, readStory } from '../../anchor/audit/story.ts'
import { auditLines, isNotYet } from '../../anchor/audit/words.ts'
import { openRpc } from '../../anchor/chain/rpc.ts'
import { readAnchorConfig } from '../../anchor/config.ts'
import { archiveFolder } from '../../operate/archive/archive-folder.ts'
import { ArchiveUnreadable } from '../../operate/archive/archive-unreadable.ts'
import { needDeployments, readSealed, sealedHeaders } from '../../operate/exports/sealed-headers.ts'
import { exitCodes, MustAct, WrongUsage } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import { readRunningInstance } from '../../runtime/machine/running-instance.ts'
import { type BatchBlobs, openBatchBlobs } from '../../runtime/nats/batch-blobs.ts'
import { currentValues } from '../../runtime/nats/buckets/last-values.ts'
import type { SharedConfig } from '../../runtime/process/config.ts'
import { readSettings } from '../../runtime/settings.ts'
import { buckets } from '../../schemas/subjects.ts'
import { alivePrefixes } from '../../schemas/system-keys.ts'
import type { Store } from '../../store/store.ts'
import { allRows, latestMs, sampledRows } from '../export/stored-rows.ts'
import type { Command, CommandContext } from '../shell/command.ts'
import { openExpiredOf } from '../shell/expired.ts'
import { withInstance } from '../shell/instance.ts'
import { openKeptStore } from '../shell/kept-store.ts'
import { openProgress } from '../shell/progress.ts'
import { exactWords, textFlag, wholeFlag } from '../shell/words.ts'
import { apiRows } from './api-rows.ts'
import { archivedRows } from './archived-rows.ts'
import { type DeepAudit, openDeepAudit } from './deep-audit.ts'
import { expiredPart } from './expired-rows.ts'
import { exportedRows } from './exported-rows.ts'
import { pinned } from './pinned.ts'
import { storedLog } from './stored-log.ts'

export const command: Command = {
  summary: 'replay every anchor from the chain and hold all there is against it',
  help: `\
usage: airproof audit [--network FILE] [--from BATCH] [--rpc URL] [--sample ROWS] [--json]
       airproof audit --api URL [--sample ROWS] …
       airproof audit --export MANIFEST …
       airproof audit --archive DIR …

Asks every contract for every anchor it ever took, and checks: that each follows from the one
before, without a hole in log sequences, batches or any partition's numbers, and each contract from
the last batch that counts of the one before; that the published headers and leaves are the anchored
ones; that the rows of the running instance's store hash into them, that none is missing and no
number is used twice; and that rows which are not anchored yet are what the log holds. Area and
flags are anchored in batches of version 2 only, and statistics in none; the report says what was
covered. Ends with 1 if anything is wrong, and with 75 (NOT YET) if nothing is, but readings wait to
be anchored because the anchor process was started only now, or nothing is anchored at all; with 75
also if NATS, the chain or InfluxDB does not answer.

  --network FILE     the network that you mean: its /v1/network, kept from a source that you trust.
                     Pins the chain, the contract, its code and where to begin to read the chain
  --contract 0x…     the newest contract that you mean, from a source that you trust; else the one
                     that the operator's record names. --chain-id N and --block N (where to begin to
                     read the chain) in the same way
  --theft 0x…        a former contract whose writer's key was stolen, as you know (several with
                     commas): readings that only its abandoned end holds are then the thief's. Not
                     named, they are a finding: history that was taken away looks the same
  --from BATCH       headers, leaves and rows from this batch on (the chain's events always all)
  --rpc URL          a node to ask; default CHAIN_RPC_URL. Somebody else's is the better witness
  --sample ROWS      that number of rows from random places, not all; finds no missing ones
  --deep             areas against the registry, flags and index against the published rules,
                     verdicts on neighbours against the log, the signatures of devices, and
                     statistics against the rows too; of what is not
                     anchored it says only whether the store agrees with itself
  --rows none        no rows
  --api URL          rows as /v1 gives them, 200 by default; AIRPROOF_API_KEY is its key
  --export MANIFEST  the rows of an export, missing ones not counted
  --archive DIR      the rows of an archive or a mirror of one, in the same way; \`airproof verify\`
                     finds missing ones
  --archive-dir DIR  the archive that shows what the operator let go (AIRPROOF_ARCHIVE_DIR). Its
                     rows are held against the anchored roots. Without it they are not checked,
                     and the audit ends with 1
  --json             the report as JSON

examples:
  npx airproof audit
  npx airproof audit --from 1000 --sample 5000 --rpc https://rpc.example --json | jq .findings`,
  options: {
    network: { type: 'string' },
    contract: { type: 'string' },
    'chain-id': { type: 'string' },
    block: { type: 'string' },
    theft: { type: 'string' },
    from: { type: 'string' },
    rpc: { type: 'string' },
    sample: { type: 'string' },
    deep: { type: 'boolean' },
    rows: { type: 'string' },
    api: { type: 'string' },
    export: { type: 'string' },
    archive: { type: 'string' },
    'archive-dir': { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    exactWords(context.words)
    return await withInstance(context, async (nc, config) => {
      const report = await auditInstance(nc, config, context)
      if (context.flags['json'] === true) context.print(JSON.stringify(report))
      else for (const line of auditLines(report)) context.print(line)
      if (report.ok) return exitCodes.done
      return isNotYet(report) ? exitCodes.tryAgain : exitCodes.mustAct
    })
  },
}

/** Those that are set, else the one that `up` runs here. */
const nodesOf = (urls: readonly string[], { dataFolder }: SharedConfig): readonly string[] => {
  const running = readRunningInstance(dataFolder)?.rpc
  return urls.length > 0 || running === undefined ? urls : [running]
}

/** @throws MustAct, TryAgain, WrongUsage */
async function auditInstance(
  nc: NatsConnection,
  config: SharedConfig,
  context: CommandContext,
): Promise<AuditReport> {
  const { env, flags, isTerminal } = context
  const from = wholeFlag(flags, 'from', { min: 1 }) ?? 1
  const settings = readAnchorConfig({ env, flags }, config.dataFolder)
  const rpc = textFlag(flags, 'rpc')
  const urls = rpc === undefined ? nodesOf(settings.rpcUrls, config) : [rpc]
  if (urls.length === 0) throw new MustAct('no node to ask: name one with --rpc, or CHAIN_RPC_URL')
  const keccak = await createKeccak()
  const { isPinned, deployments, thefts } = pinned(await needDeployments(nc), {
    settings,
    flags,
    keccak,
  })
  const [{ chainId, genesisHash }] = deployments
  const ask = openRpc({
    urls,
    timeoutMs: settings.rpcTimeoutMs,
    expected: { chainId, genesisHash },
  })
  // the chain first: what is anchored meanwhile has been published before
  const story = await readStory(ask, deployments)
  const anchored = countedOf(partsOf(story.contracts))
  const isOurs = story.contracts.every(({ isOurCode }) => isOurCode)
  if (isOurs && from > Math.max(1, anchored))
    throw new WrongUsage(`--from is ${from}, and ${anchored} batches are anchored`)
  const { sealed } = await readSealed(nc)
  await using opened = new AsyncDisposableStack()
  const archive = { folder: archiveFolder(context, config.dataFolder), keccak }
  let deep: DeepAudit | undefined
  const expired = await expiredPart(nc, {
    ...archive,
    see: async (readings) => await deep?.see(readings),
  })
  const letGo = await openExpiredOf(nc, config, context, keccak)
  const hasArchive = expired?.archived !== undefined
  const isDeep = context.flags['deep'] === true
  const openDeep = async (store: Store): Promise<DeepAudit | undefined> => {
    const { signature, computeBuckets } = hasArchive ? letGo.store(store) : store
    const sources = { ...store, signature, computeBuckets }
    const old = expired && { beforeMs: expired.rawBeforeMs, isAtHand: hasArchive }
    deep = isDeep ? await openDeepAudit(nc, config, sources, old) : undefined
    return deep
  }
  const rows = await rowSource(nc, config, context, { opened, openDeep })
  using progress = openProgress({ label: 'batches', total: anchored, isTerminal })
  return await audit({
    story,
    headerOf: (index) => sealed.get(index)?.header,
    // without an archive at hand what was let go is not there, and is not checked
    blobs: hasArchive
      ? whereReadable(letGo.blobs(await openBatchBlobs(nc)))
      : await openBatchBlobs(nc),
    isBlock: isBlockOf(ask),
    keccak,
    from,
    unanchored: {
      log: (fromSeq) => storedLog(nc, fromSeq),
      headers: async () => sealedHeaders(await readSealed(nc)),
    },
    graceMs: graceIntervals * settings.intervalMs,
    anchorSinceMs: await anchorSince(nc),
    isPinned,
    thefts,
    onBatch: (index) => progress.at(index),
    ...(expired && { expired }),
    ...(rows === undefined ? {} : { rows }),
  })
}

/** What a damaged archive cannot show is not checked; its run is a finding. */
function whereReadable(blobs: BatchBlobs): BatchBlobs {
  const orNothing = async <T>(reading: Promise<T | undefined>): Promise<T | undefined> => {
    try {
      return await reading
    } catch (error) {
      if (error instanceof ArchiveUnreadable) return undefined
      throw error
    }
  }
  return {
    top: (index) => orNothing(blobs.top(index)),
    tile: (index, tile) => orNothing(blobs.tile(index, tile)),
  }
}

/** Since when the anchor process runs that has run longest; undefined: none runs. */
async function anchorSince(nc: NatsConnection): Promise<number | undefined> {
  const alive = await currentValues(nc, buckets.leases, `${alivePrefixes.anchor}*`)
  const times = [...alive.values()].map((text) => Date.parse(text)).filter(Number.isFinite)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** A reading waits for one interval until its batch closes, and for the chain after that. */
const graceIntervals = 3

const usualApiSample = 200

async function rowSource(
  nc: NatsConnection,
  config: SharedConfig,
  context: CommandContext,
  {
    opened,
    openDeep,
  }: {
    readonly opened: AsyncDisposableStack
    readonly openDeep: (store: Store) => Promise<DeepAudit | undefined>
  },
): Promise<RowSource | undefined> {
  const { env, flags } = context
  const sample = wholeFlag(flags, 'sample', { min: 1, max: 1e9 })
  const wanted = textFlag(flags, 'rows')
  if (wanted !== undefined && wanted !== 'none')
    throw new WrongUsage(`--rows can only be none, and is "${wanted}"`)
  const places = [flags['api'], flags['export'], flags['archive']].filter(
    (flag) => flag !== undefined,
  )
  if (flags['deep'] === true && (wanted !== undefined || sample !== undefined || places.length > 0))
    throw new WrongUsage(
      '--deep reads every row of the store: leave out --rows, --sample, --api, --export and --archive',
    )
  if (wanted === 'none') return undefined
  const api = textFlag(flags, 'api')
  const manifest = textFlag(flags, 'export')
  const archive = textFlag(flags, 'archive')
  if (places.length > 1)
    throw new WrongUsage('--api, --export and --archive name places of rows: choose one')
  if (api !== undefined) {
    const key = readSettings({ env, flags }).secret('AIRPROOF_API_KEY')
    if (key === undefined) throw new WrongUsage('--api needs AIRPROOF_API_KEY, or …_FILE')
    return {
      isAll: false,
      from: `/v1 at ${api}`,
      read: (headers) => apiRows({ url: api, key, headers, count: sample ?? usualApiSample }),
    }
  }
  if (manifest !== undefined)
    return { isAll: false, from: `the export ${manifest}`, read: () => exportedRows(manifest) }
  if (archive !== undefined)
    return { isAll: false, from: `the archive ${archive}`, read: () => archivedRows(archive) }
  const { store, from } = await openKeptStore(nc, config, context)
  opened.use(store)
  if (sample !== undefined)
    return { isAll: false, from, read: (headers) => sampledRows(store, headers, sample) }
  const deep = await openDeep(store)
  const keptFromMs = await store.keptFromMs()
  return {
    isAll: true,
    from,
    ...(keptFromMs !== undefined && { keptFromMs }),
    ...(deep && { deep }),
    read: async function* () {
      // whatever time a row was made up for, it is among them
      for await (const page of readAhead(allRows(store, 0, latestMs))) {
        await deep?.see(page)
        yield page
      }
    },
  }
}

/** The store reads the next page while the one before is hashed. */
async function* readAhead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = pages.next()
  for (;;) {
    const { done, value } = await next
    if (done === true) return
    next = pages.next()
    // it is awaited above; a failure meanwhile must not count as unhandled
    next.catch(() => undefined)
    yield value
  }
}
