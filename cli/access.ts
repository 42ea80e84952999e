import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openNatsAccess, usersFileOf } from '../runtime/engines/nats-access.ts'
import { ownUsers, usersConf } from '../runtime/engines/nats-users.ts'
import { exitCodes } from '../runtime/exit.ts'
import { writePrivateFile } from '../runtime/private-file.ts'
import type { Command } from './shell/command.ts'
import { exactWords } from './shell/words.ts'

export const command: Command = {
  summary: 'passwords and users for a NATS server that sensors sign in to',
  help: `\
usage: airproof access DIR

Writes into DIR, readable only by you, what a NATS server or cluster of your own and our processes
need so that sensors sign in: users.conf, which the server's configuration includes; a password
file for each of our processes, and the gate's callout-seed; and nats-access.json, from which all
of it is written again whenever the command runs, so keep that one.

examples:
  npx airproof access secrets
  NATS_URL=nats://10.0.0.5:4222 NATS_USER=api NATS_PASSWORD_FILE=secrets/api-password \\
    npx airproof api`,
  options: { json: { type: 'boolean' } },
  run: async ({ words, flags, print }) => {
    const [folder = ''] = exactWords(words, 'DIR')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const access = openNatsAccess(join(folder, 'nats-access.json'))
    const files = new Map([
      ['users.conf', usersConf(usersFileOf(access))],
      ['callout-seed', `${access.issuerSeed}\n`],
      ...ownUsers.map((name) => [`${name}-password`, `${access.passwords[name]}\n`] as const),
    ])
    for (const [name, text] of files) writePrivateFile(join(folder, name), text)
    const names = ['nats-access.json', ...files.keys()]
    if (flags['json'] === true) print(JSON.stringify({ folder, files: names }))
    else print(`in ${folder}: ${names.join(', ')}`)
    return exitCodes.done
  },
}
