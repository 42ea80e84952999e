/** Whether 32 bytes are a public key of Ed25519 that only one person can sign with (RFC 8032, 5.1.3). */

const p = 2n ** 255n - 19n

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base % p
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % p
    square = (square * square) % p
  }
  return result
}

const d = (p - 121665n) * power(121666n, p - 2n)
const isSquare = (value: bigint): boolean => power(value, (p - 1n) / 2n) <= 1n

/** The y of the points of order 1, 2, 4 and 8: with these as keys, one signature fits many texts. */
const eighth = 2707385501144840649318225287225658788936804267575313519463743609750303402022n
const smallOrder: ReadonlySet<bigint> = new Set([0n, 1n, p - 1n, eighth, p - eighth])

/** @param key 32 bytes */
export function isEd25519Key(key: Uint8Array): boolean {
  const y = BigInt(`0x${Buffer.from(key).reverse().toString('hex')}`) & (2n ** 255n - 1n)
  if (y >= p || smallOrder.has(y)) return false
  const ySquared = (y * y) % p
  // x² = (y² − 1) / (d·y² + 1): a fraction is a square where its product with the denominator's square is
  const [numerator, denominator] = [ySquared - 1n + p, d * ySquared + 1n]
  return isSquare((numerator * denominator) % p)
}
