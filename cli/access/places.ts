/** Where the passwords of our NATS users are: in the data folder of `airproof up`, or in a folder of their own. */
import { join } from 'node:path'
import {
  accessFileIn,
  type NatsAccess,
  natsFolderIn,
  passwordFileOf,
  passwordText,
  seedFile,
  seedText,
  usersFileOf,
} from '../../runtime/engines/nats-access.ts'
import { type OwnUser, ownUsers, usersConf } from '../../runtime/engines/nats-users.ts'
import { writeInPlace } from '../../runtime/private-file.ts'

export type AccessPlace = {
  readonly accessFile: string
  readonly passwordFile: (user: OwnUser) => string
  /** Makes every file that servers and processes read. @returns their names */
  readonly write: (access: NatsAccess) => readonly string[]
}

/** @param folder of `airproof access DIR` */
export const placeOf = (folder: string): AccessPlace => ({
  ...filesIn(folder),
  accessFile: join(folder, 'nats-access.json'),
})

/** Those of the server that `airproof up` runs on the data folder. */
export const placeOfUp = (dataFolder: string): AccessPlace => ({
  ...filesIn(natsFolderIn(dataFolder)),
  accessFile: accessFileIn(dataFolder),
})

function filesIn(folder: string): Omit<AccessPlace, 'accessFile'> {
  return {
    passwordFile: (user) => join(folder, passwordFileOf(user)),
    write: (access) => {
      const files = new Map([
        // processes first: they can sign in whatever the server has
        ...ownUsers.map((user) => [passwordFileOf(user), passwordText(access, user)] as const),
        [seedFile, seedText(access)],
        ['users.conf', usersConf(usersFileOf(access))],
      ])
      for (const [name, text] of files) writeInPlace(join(folder, name), text)
      return [...files.keys()]
    },
  }
}
