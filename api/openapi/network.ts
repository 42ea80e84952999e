import { mostKeys } from '../../schemas/devices/sensor.ts'
import {
  arrayOf,
  hash,
  integer,
  json,
  nullable,
  object,
  oneOf,
  openFailures,
  read,
  ref,
  sensorInPath,
  success,
  text,
  textOrNull,
  time,
  timeOrNull,
  yes,
} from './parts.ts'

const operation = (operationId: string, description: string) => ({
  get: {
    operationId,
    tags: ['proofs'],
    summary: 'Who this network is: its chain, its contracts, its versions',
    description,
    security: [],
    responses: {
      ...read('the network', json(ref('Network')), { isOpen: true }),
      ...openFailures(429),
    },
  },
})

export const networkPaths = {
  '/v1/network': operation(
    'network',
    'Kept as a file, it is what verifiers and the audit take with --network.',
  ),
  '/.well-known/airproof.json': operation('wellKnownNetwork', 'The same as /v1/network.'),
  '/v1/network/keys/{sensor_id}': {
    get: {
      operationId: 'sensorKeys',
      tags: ['proofs'],
      summary: 'The public keys with which a sensor signs, and since when each is known',
      description:
        'Keep it: the key in the proof of a signed reading is that of the sensor if it is in this list for the time of the reading.',
      security: [],
      parameters: [sensorInPath],
      responses: {
        ...read('the keys', json(ref('SensorKeys')), { isOpen: true }),
        ...openFailures(404, 429),
      },
    },
  },
} as const

const anyText = arrayOf(text)
const numbers = { ...arrayOf(integer), minItems: 16, maxItems: 16 }

export const networkSchemas = {
  SensorKeys: object({
    status: success,
    sensor_id: text,
    signature: {
      ...oneOf(['required', 'optional']),
      description: 'required: what is not signed is refused',
    },
    signature_since: { ...timeOrNull, description: 'null: not required, or that was not kept' },
    keys: {
      ...arrayOf(
        object({
          algorithm: oneOf(['ed25519', 'p256']),
          public_key: { ...text, description: 'base64, as in a bundle' },
          from: { ...time, description: 'of the first reading that it may sign' },
          until: { ...timeOrNull, description: 'readings of this time and later are not its own' },
          added_at: {
            ...timeOrNull,
            description: 'when it was entered into the registry; null: that was not kept',
          },
        }),
      ),
      maxItems: mostKeys,
      description: 'oldest first; of more than eight, the one that ended first is left out',
    },
  }),
  Network: object({
    format: { type: 'string', const: 'airproof.network.v1' },
    id: { ...text, description: 'random, made once: cursors of another network are refused' },
    name: text,
    api: { ...text, description: 'the address that all paths of this document are below' },
    chain: {
      ...nullable(
        object({
          id: { ...integer, description: 'as in EIP-155' },
          name: text,
          demonstration: {
            ...yes,
            description: 'the operator runs this chain, so it proves nothing about time',
          },
        }),
      ),
      description: 'null: nothing is anchored yet',
    },
    contracts: {
      ...arrayOf(
        object(
          {
            address: { ...text, pattern: '^0x[0-9a-f]{40}$' },
            version: integer,
            block: { ...integer, description: 'where it was deployed, or before' },
            code_hash: {
              ...hash,
              description: 'keccak256 of its code with zeros in place of the owner',
            },
            owner_at: {
              ...arrayOf(integer),
              description: 'where the code holds the owner: 32 bytes from each of these on',
            },
            last_batch: {
              ...nullable(integer),
              description: 'the last batch that counts in it; null: it is in use',
            },
          },
          {
            begins: {
              ...object({
                after_batch: {
                  ...integer,
                  description: 'its first batch is the next one; 0: batch 1',
                },
                head: { ...hash, description: 'of the contract, before its first batch' },
                numbers: { ...numbers, description: 'the last ones that are not of this contract' },
              }),
              description:
                'in every contract or in none: then the end of one that was given up is not known now',
            },
            ends: {
              ...nullable(
                object({
                  block: { ...integer, description: 'that holds the last batch' },
                  tx_index: {
                    ...integer,
                    description: 'the place of its transaction in the block',
                  },
                  head: { ...hash, description: 'of the contract, after that batch' },
                  numbers: { ...numbers, description: 'the last ones that are of this contract' },
                }),
              ),
              description: 'null: it is in use, or no batch of it counts',
            },
          },
        ),
      ),
      description: 'every contract that batches were anchored in, oldest first',
    },
    versions: object({
      software: { ...text, description: 'of airproof, as the API runs it' },
      api: anyText,
      leaf: arrayOf(integer),
      header: arrayOf(integer),
      bundle: anyText,
      format_level: { ...integer, description: 'in which formats its processes write' },
    }),
    licence: { ...textOrNull, description: 'of the data; null: the operator names none' },
    attribution: { ...text, description: 'whom those who use the data should name' },
    archive: { ...textOrNull, description: 'where the data can be downloaded; null: nowhere' },
    sensor_keys: { ...text, description: 'where the public keys of a sensor are, by its id' },
  }),
} as const
