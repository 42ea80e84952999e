/** `npm run clients`: makes what the clients take from the OpenAPI document and from the verifiers. */
import { writeFile } from 'node:fs/promises'
import { environment } from './config.ts'
import { madeHere, served, typescriptFile } from './generate/generated.ts'
import { typescriptTypes } from './generate/typescript.ts'

for (const [file, text] of await madeHere()) await writeFile(file, text)
const types = await typescriptTypes(served, environment)
if ('missing' in types) {
  console.error(`The types for TypeScript were not made: ${types.missing}`)
  process.exitCode = 75
} else await writeFile(typescriptFile, types.text)
