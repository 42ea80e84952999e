import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'

/** Whether a value is as its schema says. */
export type Check<T> = {
  (value: unknown): value is T
  /** What was wrong with the value that was checked last. */
  errors?: readonly ErrorObject[] | null
}

/**
 * The package is loaded when it is first called, since few processes start with something to check. It
 * does not check the schemas themselves: they are ours, a unit test does, and it would take 100 ms.
 */
function newAjv(options: Options): Ajv {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same package
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv')
  return new Ajv({
    strict: true,
    allowUnionTypes: true,
    meta: false,
    validateSchema: false,
    ...options,
  })
}

const instances = new Map<Options, Ajv>()
const usual: Options = {}

/**
 * Compiled at the first value, which takes milliseconds: a process loads the schemas of many things
 * and checks few of them.
 * @param options the same object wherever they are the same
 */
export function checkOf<T>(schema: object, options = usual): Check<T> {
  let compiled: ValidateFunction<T> | undefined
  const compile = (): ValidateFunction<T> => {
    const ajv = instances.get(options) ?? newAjv(options)
    instances.set(options, ajv)
    return ajv.compile<T>(schema)
  }
  const check: Check<T> = (value): value is T => {
    compiled ??= compile()
    const isRight = compiled(value)
    check.errors = compiled.errors ?? null
    return isRight
  }
  return check
}
