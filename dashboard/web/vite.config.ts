import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { leanLeaflet } from './lean-leaflet.ts'

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

const shakenLeaflet: Plugin = {
  name: 'airproof-leaflet',
  transform: { filter: { id: /leaflet-src\.esm\.js$/ }, handler: leanLeaflet },
}

export default defineConfig({
  root: at('.'),
  plugins: [verifier, shakenLeaflet],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: {
    alias: [
      { find: /^leaflet$/, replacement: at('../../node_modules/leaflet/dist/leaflet-src.esm.js') },
    ],
  },
  build: {
    outDir: 'dist',
    target: 'es2022',
    modulePreload: { polyfill: false },
    // data: addresses are no use under the policy of the pages for anything but images
    assetsInlineLimit: 0,
    rolldownOptions: { external: ['/airproof-verify.js'] },
  },
})
