/**
 * Koa's router, as CommonJS: its other form has an `import` of `node:http`, which costs what
 * `node-http.ts` describes.
 */
import { createRequire } from 'node:module'
import type * as KoaRouter from '@koa/router'

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same package
const { Router } = createRequire(import.meta.url)('@koa/router') as typeof KoaRouter

export { Router }
