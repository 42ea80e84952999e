import { resolve } from 'node:path'
import { exitCodes, WrongUsage } from '../runtime/exit.ts'
import { createKeccak } from '../runtime/hashes/keccak.ts'
import { readSettings } from '../runtime/settings.ts'
import { isRefusal, mirrorArchive } from './archive/mirror-archive.ts'
import type { Command } from './shell/command.ts'
import { networkFlag } from './shell/network-flag.ts'
import { exactWords } from './shell/words.ts'

export const command: Command = {
  summary: 'keep a verified copy of the archive of a network',
  help: `\
usage: airproof mirror URL DIR [--network FILE] [--json]

Fetches what DIR lacks of the archive at URL (https://…/archive/), verifies each run as \`airproof
verify\` does, and says up to when the copy is complete. Called again, it goes on where it ended, and
fetches nothing twice. Nothing of this machine's data is used.

It refuses, with 1, a file that is not what was listed, a run whose rows are not exactly what was
anchored, and an archive that has another past than your copy. It ends with 75 where the server does
not answer: call again.

  --network FILE    the network that you mean: its /v1/network, kept from a source that you trust
  --json            the result as JSON

AIRPROOF_API_KEY (or …_FILE) is sent where the archive needs a key.

examples:
  npx airproof mirror https://air.example/archive/ lagos
  npx airproof mirror https://air.example/archive/ lagos --network lagos.json
  npx airproof verify lagos`,
  options: { network: { type: 'string' }, json: { type: 'boolean' } },
  run: async ({ env, flags, words, print, note, stop }) => {
    const [url = '', folder = ''] = exactWords(words, 'URL', 'DIR')
    const network = networkFlag(flags)
    const key = readSettings({ env, flags: {} }).secret('AIRPROOF_API_KEY')
    const base = baseOf(url)
    const isJson = flags['json'] === true
    try {
      const { catalogue, runs, bytes } = await mirrorArchive({
        source: { base, key, stop },
        folder: resolve(folder),
        keccak: await createKeccak(),
        pins: network === undefined ? {} : { network },
        onRun: ({ run, readings, files }, fetched) =>
          note(
            `run ${run}: all ${readings} readings, ${files.length} files, ${megabytes(fetched)}`,
          ),
      })
      const { complete_until, end } = catalogue
      if (isJson)
        print(JSON.stringify({ ok: true, runs, bytes, complete_until, last_batch: end.batch }))
      else {
        print(`${runs === 0 ? 'nothing new' : `new runs: ${runs}`}, ${megabytes(bytes)} fetched`)
        print(
          complete_until === null
            ? `complete up to batch ${end.batch}; no day is complete yet`
            : `complete up to ${complete_until}`,
        )
        if (network === undefined)
          print('not asked: whether it is the network that you mean (--network FILE)')
      }
      return exitCodes.done
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (isJson) print(JSON.stringify({ ok: false, why: error.message }))
      else for (const line of [`✗ ${error.message}`, '', 'REFUSED']) print(line)
      return exitCodes.mustAct
    }
  },
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

/** Of the folder, also where the catalogue itself is named. */
function baseOf(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new WrongUsage(
      `"${url}" is not the address of an archive, such as https://air.example/archive/`,
    )
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/(catalogue\.json)?$/, '').replace(/\/*$/, '/')}`
}
