/**
 * Writes the schemas of the wire as JSON files, for those who speak it in another language:
 * `npx node docs/schemas/write.ts && npx biome check --write docs/schemas`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sensorSchema } from '../../schemas/devices/sensor.ts'
import { eventSchema } from '../../schemas/log/event.ts'
import { rawReadingSchema } from '../../schemas/log/raw-reading.ts'
import {
  readingsMessageSchema,
  readingsSchemaV1,
  readingsSchemaV3,
} from '../../schemas/log/readings-message.ts'

/** File name → schema. */
export const schemaFiles: Readonly<Record<string, object>> = {
  'event.schema.json': eventSchema,
  'raw-reading.schema.json': rawReadingSchema,
  'readings-message.schema.json': readingsMessageSchema,
  'readings-message-v1.schema.json': readingsSchemaV1,
  'readings-message-v3.schema.json': readingsSchemaV3,
  'sensor.schema.json': sensorSchema,
}

if (import.meta.main) {
  for (const [name, schema] of Object.entries(schemaFiles)) {
    writeFileSync(join(import.meta.dirname, name), JSON.stringify(schema))
  }
}
