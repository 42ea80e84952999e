import { existsSync } from 'node:fs'
import { accessFileIn, readNatsAccess, rotatedUsers } from '../../runtime/engines/nats-access.ts'
import { secretKeyFile } from '../../runtime/secrets/secret-key.ts'
import { secretLines } from '../../runtime/settings.ts'
import { settingRows } from '../../runtime/settings-table.ts'
import type { Check, World } from './check.ts'
import { type Finding, orOk, warning } from './finding.ts'

/** Both secrets are valid until it is finished, so a stolen one is as well. */
export const rotationCheck: Check = {
  name: 'rotations',
  needs: 'nothing',
  run: (world) => orOk(unfinished(world), 'no secret is half rotated'),
}

function unfinished({ source, config: { dataFolder } }: World): readonly Finding[] {
  const underUp = readNatsAccess(accessFileIn(dataFolder))
  const users = underUp === undefined ? [] : rotatedUsers(underUp)
  const isSeed = underUp?.rotation?.issuerSeed !== undefined
  const named = settingRows.flatMap(([name, { is }]) =>
    is === 'secret' ? (source.env[`${name}_FILE`] ?? []) : [],
  )
  const key = secretKeyFile(source, dataFolder)
  const files = new Set([...named, ...(key === undefined ? [] : [key])])
  return [
    ...(users.length === 0
      ? []
      : [warning(`the passwords of ${users.join(', ')} are half rotated`, finishAccess)]),
    ...(isSeed ? [warning('the seed callout-seed is half rotated', finishAccess)] : []),
    ...[...files].flatMap(halfRotated),
  ]
}

const finishAccess =
  'run `airproof access --finish`, with the folder of `airproof access` if there is one'

function halfRotated(file: string): readonly Finding[] {
  if (existsSync(`${file}.former`))
    return [
      warning(
        `${file} has a new token, and the former one still works`,
        'run `airproof store setup` again, with --finish',
      ),
    ]
  if (!existsSync(file) || secretLines(file).length < 2) return []
  return [warning(`${file} has two secrets: its rotation is not finished`, finishAccess)]
}
