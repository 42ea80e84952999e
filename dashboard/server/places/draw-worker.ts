/** Draws pictures in a thread of its own: one takes some 100 ms, for which no page should wait. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

const program = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')
await initWasm(readFileSync(program))
const font = readFileSync(fileURLToPath(new URL('../../web/fonts/inter.woff2', import.meta.url)))

parentPort?.on('message', ({ id, svg }: { readonly id: number; readonly svg: string }) => {
  try {
    const drawing = new Resvg(svg, {
      font: { fontBuffers: [font], defaultFontFamily: 'Inter' },
    })
    const image = drawing.render()
    const png = image.asPng()
    image.free()
    drawing.free()
    parentPort?.postMessage({ id, png })
  } catch (error) {
    parentPort?.postMessage({ id, error: String(error) })
  }
})
