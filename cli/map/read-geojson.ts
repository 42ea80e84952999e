/** Features of the operator's file: GeoJSON, or one feature per line. */
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { codeOf, MustAct, WrongUsage } from '../../runtime/exit.ts'

/** A string of JavaScript holds about this much; a file by lines may be larger. */
const longestWhole = 400 * 2 ** 20

/** @param at called now and then with how much of it was read, 0 to 1 @throws WrongUsage, MustAct */
export async function* featuresIn(file: string, at: (share: number) => void) {
  const { size } = await stat(file).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT')
      throw new WrongUsage(`--from: there is no file ${file}`, { cause })
    throw cause
  })
  if (/\.(?:geojsonl|geojsonseq|ndjson)$/i.test(file)) {
    const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity })
    let read = 0
    let number = 0
    for await (const line of lines) {
      number++
      read += line.length + 1
      // GeoJSON text sequences (RFC 8142) begin each with this character
      const text = line.replace('\u001E', '').trim()
      if (text !== '') yield parsed(text, `${file}, line ${number}`)
      if (number % 5_000 === 0) at(Math.min(1, read / size))
    }
    return
  }
  if (size > longestWhole)
    throw new MustAct(
      `${file} has ${Math.round(size / 2 ** 20)} MB: write one feature per line (osmium export -f geojsonseq), then any size can be read`,
    )
  const whole = parsed(await readFile(file, 'utf8'), file)
  at(0.5)
  const list: unknown =
    typeof whole === 'object' && whole !== null && 'features' in whole ? whole.features : undefined
  if (!Array.isArray(list))
    throw new MustAct(`${file} is not a GeoJSON FeatureCollection: it has no list "features"`)
  for (const feature of list) yield feature as unknown
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MustAct(`${where}: this is not JSON`, { cause })
  }
}
