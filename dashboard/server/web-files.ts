/** The built pages, held in memory: they are small, and an answer then does not need the disk. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Context } from 'koa'
import { MustAct } from '../../runtime/exit.ts'
import { type Language, languages } from '../texts/languages.ts'
import { nodeWorker, nodeWorkerPolicy } from './security-headers.ts'

type WebFile = {
  readonly type: string
  readonly etag: string
  /** Its name holds the hash of its content, so it never changes. */
  readonly isHashed: boolean
  readonly bodies: ReadonlyMap<Encoding, Buffer>
}

type Encoding = 'br' | 'gzip' | 'identity'

export type WebFiles = {
  /** @returns false where there is no such file */
  readonly serve: (ctx: Context, path: string) => boolean
  /**
   * The page that the browser's views begin with: the styles of what the server writes are in it,
   * because the first paint waits for them.
   * @param part of the scripts, which only this view needs
   */
  readonly shell: (language: Language, part?: string) => string
  /** What a content policy calls that style. */
  readonly styleHash: string
}

export const builtPages = fileURLToPath(new URL('../web/dist', import.meta.url))
const shell = '/index.html'
const style = '/base.css'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.geojson': 'application/geo+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/vnd.microsoft.icon',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
}

const isCompressed = /^(?:image\/png|font\/woff2)$/

/** @throws MustAct where the pages were not built */
export function openWebFiles(folder = builtPages): WebFiles {
  if (!existsSync(join(folder, shell)))
    throw new MustAct('the dashboard’s pages are not built: run `npm run build`')
  const files = new Map<string, WebFile>()
  for (const name of globSync('**/*', { cwd: folder, withFileTypes: true })) {
    if (!name.isFile()) continue
    const file = join(name.parentPath, name.name)
    const path = `/${file.slice(folder.length + 1).replaceAll('\\', '/')}`
    files.set(path, readWebFile(file, path))
  }
  const shells = new Map(languages.map((language) => [`${language} `, shellIn(language, files)]))
  return {
    serve: (ctx, path) => {
      const file = path === shell ? undefined : files.get(path)
      if (path === nodeWorker) ctx.set('content-security-policy', nodeWorkerPolicy)
      if (file !== undefined) send(ctx, file)
      return file !== undefined
    },
    shell: (language, part) => {
      const name = `${language} ${part ?? ''}`
      const made = shells.get(name) ?? withPart(shells.get(`${language} `) ?? '', part, files)
      shells.set(name, made)
      return made
    },
    styleHash: `sha256-${createHash('sha256').update(styleOf(files)).digest('base64')}`,
  }
}

/** A browser that has the font of the pages says so (`web/font.ts`). */
const withFont = (ctx: Context, page: string): string =>
  /(?:^|;)\s*font=inter(?:;|$)/.test(ctx.get('cookie'))
    ? page.replace('<html ', '<html class="inter" ')
    : page

/** A page that is made for the request: compressed in a millisecond or two. */
export function sendShell(ctx: Context, page: string): void {
  const body = Buffer.from(withFont(ctx, page))
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity')
  ctx.set('cache-control', 'no-cache')
  ctx.set('etag', etagOf(body))
  ctx.vary('accept-encoding')
  ctx.vary('accept-language, cookie')
  ctx.type = 'text/html; charset=utf-8'
  if (ctx.req.headers['if-none-match'] === etagOf(body)) {
    ctx.status = 304
    return
  }
  if (encoding === 'br' || encoding === 'gzip') ctx.set('content-encoding', encoding)
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 4 }
  ctx.body =
    encoding === 'br'
      ? brotliCompressSync(body, { params: quality })
      : encoding === 'gzip'
        ? gzipSync(body)
        : body
}

const etagOf = (body: Buffer): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`

/** The shell of a view whose part of the scripts loads beside the others. */
function withPart(page: string, part = '', files: ReadonlyMap<string, WebFile>): string {
  const links = scriptsOf(part, files)
    .filter((path) => !page.includes(path))
    .map((path) => `<link rel="modulepreload" crossorigin href="${path}">`)
  return page.replace('</head>', `${links.join('')}</head>`)
}

/** A part of the scripts, and what its first lines import. */
function scriptsOf(part: string, files: ReadonlyMap<string, WebFile>): readonly string[] {
  const path = [...files.keys()].find((name) => name.startsWith(`/assets/${part}-`))
  if (path === undefined) return []
  const code = files.get(path)?.bodies.get('identity')?.toString() ?? ''
  const imported = [...code.matchAll(/(?:from|import)["'`]\.\/([\w-]+\.js)["'`]/g)]
  return [path, ...imported.map(([, name]) => `/assets/${name}`)]
}

const styleOf = (files: ReadonlyMap<string, WebFile>): string =>
  files.get(style)?.bodies.get('identity')?.toString() ?? ''

/**
 * The shell in a language: with the script of its texts before all others, which count on them, and
 * the styles of what the scripts make last, so that nothing is painted later for them.
 * @throws MustAct where the pages were built without it
 */
function shellIn(language: Language, files: ReadonlyMap<string, WebFile>): string {
  const page = files.get(shell)?.bodies.get('identity')?.toString()
  const texts = [...files.keys()].find((path) => path.startsWith(`/assets/texts-${language}-`))
  if (page === undefined || texts === undefined)
    throw new MustAct('the dashboard’s pages are of another version: run `npm run build`')
  const script = `<script type="module" crossorigin src="${texts}"></script>`
  const rest = /<link rel="stylesheet" crossorigin[^>]*>/.exec(page)?.[0] ?? ''
  return page
    .replace('<html lang="en">', `<html lang="${language}">`)
    .replace(/<link rel="stylesheet" href="\/base\.css"[^>]*>/, () => {
      return `<style>${styleOf(files)}</style>`
    })
    .replace(rest, '')
    .replace('</body>', `${rest}</body>`)
    .replace('<script ', `${script}\n    <script `)
}

const readWebFile = (file: string, path: string): WebFile => webFile(readFileSync(file), path)

function webFile(body: Buffer, path: string): WebFile {
  const type = types[extname(path)] ?? 'application/octet-stream'
  const bodies = new Map<Encoding, Buffer>([['identity', body]])
  if (!isCompressed.test(type)) {
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 }
    bodies.set('br', brotliCompressSync(body, { params: quality }))
    bodies.set('gzip', gzipSync(body, { level: 9 }))
  }
  return {
    type,
    bodies,
    isHashed: path.startsWith('/assets/') && /-[\w-]{8}\.\w+$/.test(path),
    etag: etagOf(body),
  }
}

function send(ctx: Context, { type, etag, isHashed, bodies }: WebFile): void {
  const encodings = [...bodies.keys()].filter((name) => name !== 'identity')
  const agreed = ctx.acceptsEncodings(...encodings, 'identity')
  const encoding = encodings.find((name) => name === agreed) ?? 'identity'
  ctx.set('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
  ctx.set('etag', etag)
  ctx.vary('accept-encoding')
  ctx.type = type
  if (ctx.req.headers['if-none-match'] === etag) {
    ctx.status = 304
    return
  }
  if (encoding !== 'identity') ctx.set('content-encoding', encoding)
  ctx.status = 200
  ctx.body = bodies.get(encoding)
}
