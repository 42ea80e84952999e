import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'

/** Whether a value is as its schema says. */
export type Check<T> = {
  (value: unknown): value is T
  /** What was wrong with the value that was checked last. */
  errors?: readonly ErrorObject[] | null
}

/** One for all: each compiles the schema of schemas for itself. */
const shared = new Ajv({ strict: true, allowUnionTypes: true })

/**
 * Compiled at the first value, which takes milliseconds: a process loads the schemas of many things
 * and checks few of them.
 */
export function checkOf<T>(schema: object, ajv: Pick<Ajv, 'compile'> = shared): Check<T> {
  let compiled: ValidateFunction<T> | undefined
  const check: Check<T> = (value): value is T => {
    compiled ??= ajv.compile<T>(schema)
    const isRight = compiled(value)
    check.errors = compiled.errors ?? null
    return isRight
  }
  return check
}
