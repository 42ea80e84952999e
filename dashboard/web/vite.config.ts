import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { leanLeaflet, leanUplot } from './lean-libraries.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The verifier is beside the pages byte for byte as published, never bundled. */
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

/** The looks that server-written pages share too: without the comments and indents of its source. */
const baseStyle: Plugin = {
  name: 'airproof-base-style',
  generateBundle() {
    const css = readFileSync(at('./public/base.css'), 'utf8')
    const source = css.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\s+/g, ' ')
    this.emitFile({ type: 'asset', fileName: 'base.css', source })
  },
}

const lean: readonly Plugin[] = [
  {
    name: 'airproof-leaflet',
    transform: { filter: { id: /leaflet-src\.esm\.js$/ }, handler: leanLeaflet },
  },
  {
    name: 'airproof-uplot',
    transform: { filter: { id: /uPlot\.esm\.js$/ }, handler: leanUplot },
  },
]

/**
 * Pages show only the words in the tables of quantities and event kinds: the other fields are cut.
 */
const tables: Plugin = {
  name: 'airproof-tables',
  enforce: 'pre',
  transform: {
    filter: { id: /core[\\/](?:air[\\/]quantities|delivery[\\/]event-kinds)\.ts$/ },
    handler: (code) =>
      code.replaceAll(/^ {4}(?:hard|usual|droppedFlag|number|source|isUrgent): .*,\n/gm, ''),
  },
}

/**
 * The parts that are needed only when visited; the rest is one file. Main is first, because a group
 * also takes what it imports.
 */
const chunks = [
  {
    name: 'main',
    priority: 2,
    test: /preact|[\\/]core[\\/]|web[\\/](?!map[\\/]|pages[\\/](?:settings|operator|city[\\/](?:city-map|sensor-mark|tooltip)))/,
  },
  { name: 'account', priority: 1, test: /web[\\/]pages[\\/](?:settings|operator)/ },
  { name: 'map', priority: 1, test: /leaflet|city-map|sensor-mark|tooltip|land\.json|clip-rings/ },
]

export default defineConfig({
  root: at('.'),
  plugins: [verifier, baseStyle, tables, ...lean],
  // set here, because the tests' NODE_ENV would select the larger form
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  resolve: {
    alias: [
      { find: /^leaflet$/, replacement: at('../../node_modules/leaflet/dist/leaflet-src.esm.js') },
    ],
  },
  build: {
    outDir: 'dist',
    target: 'es2022',
    modulePreload: { polyfill: false },
    // the pages' policy allows data: addresses only for images
    assetsInlineLimit: 0,
    // few files: each is compressed separately, and small ones badly
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups: chunks } } },
  },
})
