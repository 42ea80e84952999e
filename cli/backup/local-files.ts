/** The files of a data folder that are in a backup, and which of them are secrets. */
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, WrongUsage } from '../../runtime/exit.ts'
import type { SecretFiles } from './seal-files.ts'

/** Made again by every start, or copied in a way of their own. */
const notCopied =
  /^(nats|processes|instances|archive|chain|readings\.sqlite.*|ready\.json|up\.(pid|lock.*)|start\.log|.*\.new)$/
/** Pushes that wait for NATS, and what is not a secret. */
const openNames = /^(push-spool(-\d+)?|mail|map\.pmtiles|(nats|mqtt|push|admin)-port)$/
/** Of a spool: the lock of the process that has it. */
const notOpen = /(^|\/)lock(-\w+)?$|\.new$/

/** Anything else in the folder is taken for a secret, wherever it comes from. */
const mostSecretBytes = 16 * 2 ** 20

/** Paths of files, relative to the folder, with slashes. */
export const openFilesIn = (dataFolder: string): readonly string[] =>
  namesIn(dataFolder)
    .filter((name) => openNames.test(name))
    .flatMap((name) => filesIn(dataFolder, name))
    .filter((path) => !notOpen.test(path))

/** @throws WrongUsage they are so large that they cannot be secrets */
export function secretFilesIn(dataFolder: string): SecretFiles {
  const files = new Map<string, Buffer>()
  let bytes = 0
  for (const name of namesIn(dataFolder)) {
    if (notCopied.test(name) || openNames.test(name)) continue
    for (const path of filesIn(dataFolder, name)) {
      const content = readFileSync(join(dataFolder, path))
      bytes += content.length
      if (bytes > mostSecretBytes)
        throw new WrongUsage(
          `${join(dataFolder, path)} is not a file of airproof, and too large to be sealed with the secrets: move it out of the data folder`,
        )
      files.set(path, content)
    }
  }
  return files
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

export function filesIn(folder: string, path: string): readonly string[] {
  const place = join(folder, path)
  if (!existsSync(place)) return []
  const stats = statSync(place)
  if (stats.isFile()) return [path]
  return namesIn(place).flatMap((name) => filesIn(folder, `${path}/${name}`))
}

/** A file that its process deletes meanwhile is read to its end all the same, or is not there. */
export async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 20 })) yield chunk
}
