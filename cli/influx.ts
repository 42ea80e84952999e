import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { exitCodes, WrongUsage } from '../runtime/exit.ts'
import { writePrivateFile } from '../runtime/private-file.ts'
import { readSharedConfig } from '../runtime/process/config.ts'
import { addInfluxBuckets } from '../store/influx/set-up.ts'
import type { Command } from './shell/command.ts'
import { exactWords } from './shell/words.ts'

/** Each file is named after what its token can do. */
const files = { write: 'influx-write-token', read: 'influx-read-token' } as const

export const command: Command = {
  summary: 'buckets and tokens in an InfluxDB 2 of your own',
  help: `\
usage: airproof influx DIR

Makes the two buckets that airproof needs in the InfluxDB at INFLUX_URL: INFLUX_BUCKET for readings
and INFLUX_BUCKET_1h for statistics. Writes two new tokens for them into DIR, readable by you alone:
influx-write-token for the pipeline, and influx-read-token for the API and for analysts. Neither can
do anything else. INFLUX_TOKEN is one that may make buckets and tokens, and is needed only here.
What exists already stays as it is; a token whose file is gone is made again.

examples:
  INFLUX_URL=http://127.0.0.1:8086 INFLUX_TOKEN_FILE=secrets/influx-token \\
    npx airproof influx secrets`,
  options: { json: { type: 'boolean' } },
  run: async ({ words, flags, env, print }) => {
    const [folder = ''] = exactWords(words, 'DIR')
    const { store } = readSharedConfig({ env, flags })
    if (store.kind !== 'influx')
      throw new WrongUsage('set INFLUX_URL, which InfluxDB, and INFLUX_TOKEN_FILE, how to sign in')
    const { url, org, bucket, token: operatorToken } = store
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const [write, read] = [join(folder, files.write), join(folder, files.read)]
    const { newWriteToken, newReadToken } = await addInfluxBuckets(
      { url, org, operatorToken },
      bucket,
    )
    if (!existsSync(write)) writePrivateFile(write, `${await newWriteToken()}\n`)
    if (!existsSync(read)) writePrivateFile(read, `${await newReadToken()}\n`)
    const names = Object.values(files)
    if (flags['json'] === true) print(JSON.stringify({ folder, files: names }))
    else print(`in ${folder}: ${names.join(', ')}`)
    return exitCodes.done
  },
}
