/** `npm run observe`: writes the page of metrics and Grafana's dashboards. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { madeHere } from './made-here.ts'

for (const [file, text] of madeHere()) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
// prom-client keeps watching the event loop
process.exit(0)
