/** `airproof verify` of an archive: of all of it, or of one run. */
import { dirname } from 'node:path'
import type { VerifyOptions } from '../../anchor/verifier/airproof-verify.js'
import type { Catalogue } from '../../operate/archive/catalogue.ts'
import { checkArchive } from '../../operate/archive/check-archive.ts'
import { type CheckedRun, checkArchiveRun } from '../../operate/archive/check-archive-run.ts'
import type { RunManifest } from '../../operate/archive/run-manifest.ts'
import { Refusal } from '../../operate/exports/check-run.ts'
import { exitCodes } from '../../runtime/exit.ts'
import { createKeccak } from '../../runtime/hashes/keccak.ts'
import type { CommandContext } from '../shell/command.ts'

type Checked = CheckedRun & { readonly run: number }

/** @param folder of the archive */
export async function verifyArchive(
  folder: string,
  catalogue: Catalogue,
  pins: VerifyOptions,
  context: CommandContext,
): Promise<number> {
  const keccak = await createKeccak()
  const until = catalogue.complete_until
  return await report(context, until, async (onRun) => {
    await checkArchive(catalogue, { folder, keccak, pins, onRun })
  })
}

/** @param file of the manifest, in its place in the archive */
export async function verifyRun(
  file: string,
  manifest: RunManifest,
  pins: VerifyOptions,
  context: CommandContext,
): Promise<number> {
  const keccak = await createKeccak()
  const folder = dirname(dirname(file))
  return await report(context, undefined, async (onRun) => {
    onRun({ run: manifest.run, ...(await checkArchiveRun(manifest, { folder, keccak, pins })) })
  })
}

/** @param until undefined: only one run is looked at */
async function report(
  { flags, print }: CommandContext,
  until: string | null | undefined,
  check: (onRun: (run: Checked) => void) => Promise<void>,
): Promise<number> {
  const isJson = flags['json'] === true
  const checked: Checked[] = []
  try {
    await check((run) => {
      checked.push(run)
      if (!isJson) for (const line of runLines(run)) print(line)
    })
    if (until !== undefined && checked.length === 0)
      throw new Refusal('nothing is archived in it yet, so nothing is proven')
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof RangeError)) throw error
    if (isJson) print(JSON.stringify({ ok: false, why: error.message }))
    else for (const line of [`✗ ${error.message}`, '', 'REFUSED']) print(line)
    return exitCodes.mustAct
  }
  const total = sum(checked, ({ readings }) => readings)
  const verifications = checked.flatMap(({ runs }) => runs)
  const isDemonstration = verifications.some(({ demonstration }) => demonstration)
  const notAsked = new Set(
    verifications.flatMap((one) =>
      one.notAsked.map(({ name, why }) => `${name}, not asked: ${why}`),
    ),
  )
  const trusts = new Set(
    verifications.flatMap((one) => one.trusts.filter((trust) => !ofOneReading.test(trust))),
  )
  const unsigned = total - sum(checked, ({ signed }) => signed)
  if (unsigned > 0)
    trusts.add(
      `that the sensors sent the ${unsigned} readings that are not signed here: the operator could have made them up`,
    )
  if (isJson)
    print(
      JSON.stringify({
        ok: true,
        readings: total,
        complete_until: until ?? null,
        demonstration: isDemonstration,
        runs: checked.map(({ keys, runs, ...run }) => ({
          ...run,
          keys: keys.size,
          blocks: runs.map(({ block }) => block),
        })),
        not_asked: [...notAsked],
        trusts: [...trusts],
      }),
    )
  else {
    for (const line of notAsked) print(`– ${line}`)
    print('')
    print(
      `PROVEN${isDemonstration ? ', ON A DEMONSTRATION CHAIN' : ''}. All ${total} readings ${until === undefined ? 'of the run ' : ''}are here as they were accepted, and no other${until ? `: complete up to ${until}` : ''}.`,
    )
    print('')
    print('Taken on trust:')
    for (const trust of trusts) print(`  - ${trust}`)
  }
  return exitCodes.done
}

/** Each run is checked with one of its readings, which the verifier speaks of. */
const ofOneReading =
  /^that (the sensor sent it:|the (ed25519|p256) key |nothing which was signed as )/

const sum = (runs: readonly Checked[], of: (run: Checked) => number): number =>
  runs.reduce((total, run) => total + of(run), 0)

const runLines = ({ run, readings, batches, signed, unsigned, runs }: Checked): string[] => [
  `✓ run ${run}: all ${readings} readings of ${batches} ${batches === 1 ? 'batch' : 'batches'}`,
  ...(signed > 0 ? [`✓ ${signed} of them are signed by their devices`] : []),
  ...(unsigned > 0
    ? [`  signed by their devices, and their signatures are not here: ${unsigned} readings`]
    : []),
  ...runs.flatMap(({ block }) =>
    block === null ? [] : [`✓ block ${block.number}, ${block.hash}, ${block.time}`],
  ),
]
