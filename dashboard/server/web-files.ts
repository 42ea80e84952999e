/** The built pages, held in memory: they are small, and an answer then does not need the disk. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Context } from 'koa'
import { MustAct } from '../../runtime/exit.ts'

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
  /** The page that all of the browser's views begin with. */
  readonly serveShell: (ctx: Context) => void
}

export const builtPages = fileURLToPath(new URL('../web/dist', import.meta.url))
const shell = '/index.html'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.geojson': 'application/geo+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

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
  const page = files.get(shell)
  if (page === undefined) throw new MustAct(`${folder} has no index.html`)
  return {
    serve: (ctx, path) => {
      const file = path === shell ? undefined : files.get(path)
      if (file !== undefined) send(ctx, file)
      return file !== undefined
    },
    serveShell: (ctx) => send(ctx, page),
  }
}

function readWebFile(file: string, path: string): WebFile {
  const body = readFileSync(file)
  const type = types[extname(path)] ?? 'application/octet-stream'
  const bodies = new Map<Encoding, Buffer>([['identity', body]])
  if (!type.startsWith('image/png')) {
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 }
    bodies.set('br', brotliCompressSync(body, { params: quality }))
    bodies.set('gzip', gzipSync(body, { level: 9 }))
  }
  return {
    type,
    bodies,
    isHashed: path.startsWith('/assets/') && /-[\w-]{8}\.\w+$/.test(path),
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  }
}

function send(ctx: Context, { type, etag, isHashed, bodies }: WebFile): void {
  const encodings = [...bodies.keys()].filter((name) => name !== 'identity')
  const agreed = ctx.acceptsEncodings(...encodings, 'identity')
  const encoding = encodings.find((name) => name === agreed) ?? 'identity'
  ctx.set('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
  ctx.set('etag', etag)
  ctx.set('vary', 'accept-encoding')
  ctx.type = type
  if (ctx.req.headers['if-none-match'] === etag) {
    ctx.status = 304
    return
  }
  if (encoding !== 'identity') ctx.set('content-encoding', encoding)
  ctx.status = 200
  ctx.body = bodies.get(encoding)
}
