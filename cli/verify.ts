import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  describe,
  type Verification,
  type VerifyOptions,
  verifyFile,
} from '../anchor/verifier/airproof-verify.js'
import { catalogueFile } from '../operate/archive/archive-layout.ts'
import { parseCatalogue } from '../operate/archive/catalogue.ts'
import { parseRunManifest } from '../operate/archive/run-manifest.ts'
import { type ExportManifest, parseManifest } from '../operate/exports/export-manifest.ts'
import { codeOf, exitCodes, MustAct, WrongUsage } from '../runtime/exit.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { assertKnownFile } from '../schemas/formats.ts'
import { verifyArchive, verifyRun } from './archive/verify-archive.ts'
import { checkExport, type ExportCheck } from './export/check-manifest.ts'
import { filterWords } from './export/export-filter.ts'
import { partWords } from './export/part-words.ts'
import { readExport } from './export/read-export.ts'
import type { Command, CommandContext } from './shell/command.ts'
import { networkFlag } from './shell/network-flag.ts'
import { exactWords, textFlag } from './shell/words.ts'

export const command: Command = {
  summary: 'check a proof bundle, an export or an archive, without asking us',
  help: `\
usage: airproof verify FILE [--network FILE] [--block-hash 0x…] [--rpc URL] [--json]

FILE is a proof bundle (.airproof.json), several with one per line, or the manifest of an export
(….manifest.json) with its rows beside it; or the folder of an archive, or of its runs one manifest
(runs/run-N.manifest.json). Says what was checked and what is left to trust; ends
with 0 where everything is proven and 1 where it is refused. Nothing of this machine's data is used.

  --network FILE    the network that you mean: its /v1/network, kept from a source that you trust.
                    Pins the chain, the contracts, where they began and, with --rpc, their code
  --block-hash 0x…  the hash of the anchoring block, from a source you trust (bundles)
  --chain-id N, --contract 0x…
                    the same by hand; without any of these, a bundle of any contract is accepted
  --rpc URL         a node to check whether the block is part of the chain, and finalized
  --json            the result as JSON

examples:
  npx airproof verify NGR-LOS-IKJ-017_2026-01-31T08-00-00Z.airproof.json
  npx airproof verify january.ndjson.manifest.json --contract 0x… --rpc https://rpc.example`,
  options: {
    network: { type: 'string' },
    'block-hash': { type: 'string' },
    'chain-id': { type: 'string' },
    contract: { type: 'string' },
    rpc: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (context) => {
    const [named = ''] = exactWords(context.words, 'FILE')
    const options = optionsOf(context)
    const file = isFolder(named) ? join(named, catalogueFile) : named
    const bytes = readBytes(file)
    const archived = await verifyArchived(file, bytes, options, context)
    if (archived !== undefined) return archived
    assertKnownFile(bytes.subarray(0, longestHead).toString())
    const manifest = bytes.length < largestManifest ? parseManifest(bytes.toString()) : undefined
    if (manifest !== undefined) return verifyExport(file, manifest, options, context)
    const bundles = linesOf(bytes)
    return bundles.length > 1
      ? verifyLines(bundles, options, context)
      : verifyOne(bytes, options, context)
  },
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** @returns undefined: the file is not of an archive */
async function verifyArchived(
  file: string,
  bytes: Buffer,
  options: VerifyOptions,
  context: CommandContext,
): Promise<number | undefined> {
  const isOurs = /^\{\s*"format":\s*"airproof\.archive\./.test(
    bytes.subarray(0, longestHead).toString(),
  )
  if (!isOurs) return undefined
  const text = bytes.toString()
  const catalogue = parseCatalogue(text)
  if (catalogue !== undefined) return verifyArchive(dirname(file), catalogue, options, context)
  const run = parseRunManifest(text)
  if (run !== undefined) return verifyRun(resolve(file), run, options, context)
  throw new MustAct(`${file} is damaged: it is neither the catalogue of an archive nor a manifest`)
}

/** The first bytes of a file hold the name of its format. */
const longestHead = 200
/** The longest string of V8. */
const largestManifest = 2 ** 29

function optionsOf({ flags }: CommandContext): VerifyOptions {
  const [block, chainId] = [textFlag(flags, 'block-hash'), textFlag(flags, 'chain-id')]
  const [contract, rpc] = [textFlag(flags, 'contract'), textFlag(flags, 'rpc')]
  const network = networkFlag(flags)
  if (rpc !== undefined && !URL.canParse(rpc)) throw new WrongUsage(`--rpc is not a URL: "${rpc}"`)
  return {
    ...(network === undefined ? {} : { network }),
    ...(block === undefined ? {} : { trustedBlockHash: block }),
    ...(chainId === undefined ? {} : { chainId }),
    ...(contract === undefined ? {} : { contract }),
    ...(rpc === undefined ? {} : { rpc }),
  }
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT' && codeOf(cause) !== 'EISDIR') throw cause
    throw new WrongUsage(`there is no file ${file}`, { cause })
  }
}

/** Each with its line feed, which is part of a bundle. */
function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at)
    const next = end === -1 ? bytes.length : end + 1
    lines.push(bytes.subarray(at, next))
    at = next
  }
  return lines
}

const exitOf = (ok: boolean): number => (ok ? exitCodes.done : exitCodes.mustAct)

async function verifyOne(
  bytes: Uint8Array,
  options: VerifyOptions,
  { flags, print }: CommandContext,
): Promise<number> {
  const result = await verifyFile(bytes, options)
  print(flags['json'] === true ? JSON.stringify(result) : describe(result))
  return exitOf(result.ok)
}

async function verifyLines(
  bundles: readonly Uint8Array[],
  options: VerifyOptions,
  { flags, print }: CommandContext,
): Promise<number> {
  const refused: { line: number; check: string; why: string }[] = []
  const trusts = new Set<string>()
  const notAsked = new Set<string>()
  let isDemonstration = false
  for (const [at, bytes] of bundles.entries()) {
    const verification = await verifyFile(bytes, options)
    const { ok, checks, trusts: left, demonstration } = verification
    isDemonstration ||= demonstration
    const { name = 'format', why = '' } = checks.find((one) => !one.ok) ?? {}
    if (!ok) refused.push({ line: at + 1, check: name, why })
    for (const trust of left) trusts.add(trust)
    for (const line of notAskedLines(verification)) notAsked.add(line)
  }
  const result = {
    ok: refused.length === 0,
    bundles: bundles.length,
    demonstration: isDemonstration,
    refused,
    not_asked: [...notAsked],
    trusts: [...trusts],
  }
  if (flags['json'] === true) print(JSON.stringify(result))
  else {
    for (const { line, check, why } of refused) print(`✗ line ${line}: ${check}: ${why}`)
    const proven = isDemonstration ? 'PROVEN, ON A DEMONSTRATION CHAIN' : 'PROVEN'
    const words = result.ok ? `${proven}: all` : `REFUSED: ${refused.length} of`
    print(`${words} ${bundles.length} readings`)
    if (result.ok) for (const line of [...notAsked, ...trustLines(trusts)]) print(line)
  }
  return exitOf(result.ok)
}

/** What was not asked has no answer, least of all a yes. */
const notAskedLines = ({ notAsked }: Verification): readonly string[] =>
  notAsked.map(({ name, why }) => `– ${name}, not asked: ${why}`)

const trustLines = (trusts: Iterable<string>): readonly string[] => [
  '',
  'Taken on trust:',
  ...[...trusts].map((trust) => `  - ${trust}`),
]

async function verifyExport(
  file: string,
  manifest: ExportManifest,
  options: VerifyOptions,
  { flags, print }: CommandContext,
): Promise<number> {
  const keccak = await createKeccak()
  const { rows, sha256 } = await readExport(file, manifest).catch((cause: unknown) => {
    throw new MustAct(`the rows ${manifest.rows.file} are not beside ${file}`, { cause })
  })
  const checked = await checkExport(manifest, rows, { ...options, keccak })
  const isFile = !checked.ok || sha256() === manifest.rows.sha256
  const result: ExportCheck = isFile
    ? checked
    : { ok: false, why: `${manifest.rows.file} is another file than the manifest was made for` }
  if (flags['json'] === true) print(JSON.stringify(result))
  else for (const line of exportLines(result)) print(line)
  return exitOf(result.ok)
}

function exportLines(result: ExportCheck): readonly string[] {
  if (!result.ok) return [`✗ ${result.why}`, '', 'REFUSED']
  const { rows, notAnchored, filter, corrections = [], ofLeaf2 } = result
  const { signed, keys, parts, runs } = result
  const trusts = new Set(runs.flatMap((run) => run.trusts.filter((line) => !ofOneRow.test(line))))
  if (ofLeaf2 > 0 && signed < rows)
    trusts.add(
      `that the sensors sent the ${rows - signed} readings that are not signed: the operator could have made them up`,
    )
  if (signed > 0)
    trusts
      .add('that the keys are those of the sensors: the registry of the network names them')
      .add('that nothing which was signed by a name that this airproof does not know was left out')
  if (filter !== undefined)
    trusts.add(
      'that no other reading of the period goes with the filter: a part proves what it has',
    )
  if (filter !== undefined && ofLeaf2 < rows && (filter.areas ?? filter.quality) !== undefined)
    trusts.add(
      'the areas and flags by which rows with leaf 1 were chosen: leaf 1 does not hold them',
    )
  return [
    `✓ ${partWords(parts)}`,
    ...(filter === undefined ? [] : [`  a part of the period: ${filterWords(filter)}`]),
    ...corrections.map(
      ({ name, version, hash }) =>
        `✓ the values of ${name}, version ${version}, follow from the raw ones by the model ${hash}`,
    ),
    ...(signed > 0
      ? [`✓ ${signed} of the ${rows} rows are signed by their devices; different keys: ${keys}`]
      : []),
    ...(notAnchored > 0
      ? [`  not anchored for good yet, so nothing is proven of them: ${notAnchored} rows`]
      : []),
    ...runs.flatMap(blockLine),
    ...new Set(runs.flatMap(notAskedLines)),
    '',
    `PROVEN${runs.some(({ demonstration }) => demonstration) ? ', ON A DEMONSTRATION CHAIN' : ''}. The readings existed, with these values, when those blocks were made.`,
    ...(ofLeaf2 > 0
      ? [
          `${ofLeaf2} of them have a leaf of version 2: so did their areas and flags, and no other reading in their contracts has one of their numbers.`,
        ]
      : []),
    ...trustLines(trusts),
  ]
}

/** Each run is checked with one of its rows, which the verifier speaks of. */
const ofOneRow = /^that (the sensor sent it:|the (ed25519|p256) key |nothing which was signed as )/

const blockLine = ({ block }: Verification): readonly string[] =>
  block === null ? [] : [`✓ block ${block.number}, ${block.hash}, ${block.time}`]
