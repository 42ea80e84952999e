import { ApiError, unavailable } from '../http/api-error.ts'

/** Waits for what is kept of batches. @throws ApiError 503 where it cannot be had right now */
export async function proving<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ApiError || error instanceof TypeError) throw error
    throw unavailable('proofs_unavailable', 'the proofs cannot be read right now', error)
  }
}
