import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { leanLeaflet, leanPreact, leanUplot } from './lean-libraries.ts'

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

/**
 * The looks that server-written pages share too: one file of tokens and rules, without the comments
 * and indents of its source; and the font that it names.
 */
const baseStyle: Plugin = {
  name: 'airproof-base-style',
  generateBundle() {
    const font = this.emitFile({
      type: 'asset',
      name: 'inter.woff2',
      source: readFileSync(at('./fonts/inter.woff2')),
    })
    this.emitFile({
      type: 'asset',
      fileName: 'assets/inter-license.txt',
      source: readFileSync(at('./fonts/inter-license.txt')),
    })
    const css = readFileSync(at('./public/base.css'), 'utf8')
      .replaceAll(/@import url\("(.+?)"\);/g, (_, name: string) =>
        readFileSync(at(`./public/${name}`), 'utf8'),
      )
      .replace('../fonts/inter.woff2', `/${this.getFileName(font)}`)
    const source = css.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\s+/g, ' ')
    this.emitFile({ type: 'asset', fileName: 'base.css', source })
  },
  // they are inside base.css
  writeBundle: ({ dir = '' }) => {
    for (const name of ['tokens.css', 'headline.css']) rmSync(join(dir, name))
  },
}

const lean: readonly Plugin[] = [
  {
    name: 'airproof-leaflet',
    transform: { filter: { id: /leaflet-src\.esm\.js$/ }, handler: leanLeaflet },
  },
  {
    name: 'airproof-preact',
    transform: { filter: { id: /preact[\\/]dist[\\/]preact\.mjs$/ }, handler: leanPreact },
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
  // of pages and texts both, which are two entries
  {
    name: 'words',
    priority: 4,
    test: /dashboard[\\/]texts[\\/](?:\w+[\\/](?:write|spaced)|\w+)\.ts$|core[\\/]air[\\/]quantities\.ts$/,
  },
  {
    name: 'main',
    priority: 2,
    test: /preact|[\\/]core[\\/]|web[\\/](?:parts[\\/]|(?!texts-)[\w-]+\.tsx?$)/,
  },
  { name: 'city', priority: 1, test: /web[\\/]pages[\\/]city[\\/]/ },
  { name: 'sensor', priority: 1, test: /web[\\/]pages[\\/]sensor[\\/]/ },
  { name: 'proof', priority: 1, test: /web[\\/]pages[\\/]proof[\\/]/ },
  {
    name: 'account',
    priority: 1,
    test: /web[\\/](?:forms|pages[\\/](?:settings|operator|developers))[\\/]/,
  },
  {
    name: 'charts',
    priority: 1,
    test: /uplot|web[\\/]charts[\\/]/,
  },
  {
    name: 'map',
    priority: 1,
    test: /leaflet[\\/]dist[\\/]leaflet|supercluster|kdbush|web[\\/]map[\\/](?!ground)/,
  },
  // the ground comes after the marks
  { name: 'ground', priority: 0, test: /protomaps|pmtiles|fflate|web[\\/]map[\\/]ground/ },
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
    // the server names what a page begins with (`server/web-files.ts`)
    modulePreload: false,
    // the pages' policy allows data: addresses only for images
    assetsInlineLimit: 0,
    // few files: each is compressed separately, and small ones badly
    cssCodeSplit: false,
    rolldownOptions: {
      // the texts are entries of their own: the server writes one of them into the page
      input: {
        index: at('./index.html'),
        'texts-en': at('./texts-en.ts'),
        'texts-fr': at('./texts-fr.ts'),
      },
      output: {
        codeSplitting: { groups: chunks },
      },
    },
  },
})
