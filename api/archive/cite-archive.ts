/**
 * GET /archive/cite: a citation of a period, for people and programs. Its hash is of a list of files
 * that never change, so that anyone can check it against a copy; what proves the files is in the list.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogueFile } from '../../operate/archive/archive-layout.ts'
import { type Catalogue, parseCatalogue } from '../../operate/archive/catalogue.ts'
import type { ArchiveSettings, NetworkSettings } from '../config.ts'
import { type Answer, jsonAnswer, jsonType, type Route } from '../http/answer.ts'
import { ApiError, badParameter } from '../http/api-error.ts'
import { type Params, readChoice, readWhole, readWord } from '../http/params.ts'
import { type CitedFiles, citationText, citedFiles, type Period } from './citation.ts'
import { citePage } from './cite-page.ts'

const [htmlType, sumsType] = ['text/html', 'text/plain']

type Options = {
  readonly settings: ArchiveSettings
  readonly network: NetworkSettings
  readonly publicUrl: string
  /** @throws ApiError 429 */
  readonly bound: (network: string) => void
}

export function citeArchive({ settings, network, publicUrl, bound }: Options): Route {
  const { folder, isOpen } = settings
  const about = {
    name: network.name,
    attribution: network.attribution ?? network.name,
    licence: network.licence ?? null,
  }
  return {
    path: '/archive/cite',
    params: ['from', 'to', 'runs', 'format'],
    types: [jsonType, htmlType, sumsType],
    typeOf: (params) => (readChoice(params, 'format', ['sums']) ? sumsType : undefined),
    isOpen,
    // of the archive: docs/archive.md describes it
    isPart: true,
    answer: async ({ params, type, network: asking }) => {
      if (isOpen) bound(asking())
      const catalogue = await catalogueIn(folder)
      if (type === htmlType && readWord(params, 'from') === undefined)
        return pageAnswer(citePage({ name: network.name }))
      const period = readCited(params, catalogue)
      const cited = citedFiles(catalogue, period)
      if (cited.files === 0)
        throw new ApiError(
          404,
          'not_found',
          `the archive has no reading from ${period.from} to ${period.to}; it is complete up to ${catalogue.complete_until ?? 'no day yet'}`,
        )
      if (type === sumsType)
        return { type: `${sumsType}; charset=utf-8`, body: Buffer.from(cited.sums) }
      const query = new URLSearchParams({ ...period, runs: String(period.runs) }).toString()
      const link = `${publicUrl.replace(/\/+$/, '')}/archive/cite?${query}`
      const { sha256 } = cited
      const citation = citationText({ period, sha256, network: about, link })
      const shown = { ...cited, citation, sumsLink: `${link}&format=sums` }
      return type === htmlType
        ? pageAnswer(citePage({ name: network.name, period, cited: shown }))
        : jsonAnswer(citationJson(shown, period))
    },
  }
}

const citationJson = (
  {
    citation,
    sha256,
    files,
    readings,
    sumsLink,
  }: CitedFiles & {
    readonly citation: string
    readonly sumsLink: string
  },
  period: Period,
) => ({ status: 'success', citation, ...period, sha256, files, readings, sums: sumsLink })

const pageAnswer = (html: string): Answer => ({
  type: `${htmlType}; charset=utf-8`,
  body: Buffer.from(html),
  headers: {
    'content-security-policy':
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  },
})

async function catalogueIn(folder: string): Promise<Catalogue> {
  const text = await readFile(join(folder, catalogueFile), 'utf8').catch(() => '')
  const catalogue = text === '' ? undefined : parseCatalogue(text)
  if (catalogue !== undefined) return catalogue
  throw new ApiError(404, 'not_found', 'there is no archive here yet')
}

/** @throws ApiError 400 */
function readCited(params: Params, { runs }: Catalogue): Period {
  const [from, to] = [readDay(params, 'from'), readDay(params, 'to')]
  if (to < from) throw badParameter('to', to, 'from or a later day')
  const newest = runs.at(-1)?.run ?? 1
  return { from, to, runs: readWhole(params, 'runs', { min: 1, max: newest, otherwise: newest }) }
}

function readDay(params: Params, name: string): string {
  const day = readWord(params, name)
  const timeMs = Date.parse(`${day}T00:00:00Z`)
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(day ?? '') && !Number.isNaN(timeMs)
  if (day !== undefined && isDay && new Date(timeMs).toISOString().startsWith(day)) return day
  throw badParameter(name, day, 'a UTC day, such as 2026-03-01')
}
