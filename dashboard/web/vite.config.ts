import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The verifier stands beside the pages byte for byte as it is published, never bundled. */
const verifier: Plugin = {
  name: 'airproof-verifier',
  generateBundle() {
    this.emitFile({
      type: 'asset',
      fileName: 'airproof-verify.js',
      source: readFileSync(at('../../anchor/verifier/airproof-verify.js')),
    })
  },
}

export default defineConfig({
  root: at('.'),
  plugins: [verifier],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: { alias: { leaflet: at('../../node_modules/leaflet/dist/leaflet-src.esm.js') } },
  build: {
    outDir: 'dist',
    target: 'es2022',
    modulePreload: { polyfill: false },
    // data: addresses are no use under the policy of the pages for anything but images
    assetsInlineLimit: 0,
    rolldownOptions: { external: ['/airproof-verify.js'] },
  },
})
