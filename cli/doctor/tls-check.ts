import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dayMs } from '../../core/time.ts'
import { codeOf } from '../../runtime/exit.ts'
import { readTlsFiles } from '../../runtime/http/tls-files.ts'
import type { Check } from './check.ts'
import { broken, type Finding, ok, warning } from './finding.ts'

/** Time to renew a certificate that no program renews. */
const soonDays = 14

export const tlsCheck: Check = {
  name: 'TLS',
  needs: 'nothing',
  isBeforeUp: true,
  run: ({ source, config, running, nowMs }) => {
    const files = readTlsFiles(source)
    const pin = config.natsPinFile ?? running?.nats_pin
    if (files === undefined && pin === undefined)
      return [ok('no certificate is set: what starts here listens without TLS')]
    return [
      ...(files === undefined ? [] : pairFindings(files, nowMs())),
      ...(pin === undefined || pin === files?.certFile ? [] : certFindings(pin, nowMs())),
    ]
  },
}

function pairFindings(
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string },
  nowMs: number,
): readonly Finding[] {
  const findings = certFindings(certFile, nowMs)
  const certificate = parsed(certFile, (pem) => new X509Certificate(pem))
  const key = parsed(keyFile, (pem) => createPrivateKey(pem))
  if (typeof key === 'string') return [...findings, unreadable(keyFile, key)]
  if (typeof certificate === 'string' || certificate.checkPrivateKey(key)) return findings
  const what = `${keyFile} is not the key of ${certFile}`
  return [
    ...findings,
    broken(what, 'set AIRPROOF_TLS_CERT_FILE and AIRPROOF_TLS_KEY_FILE to a pair'),
  ]
}

function certFindings(file: string, nowMs: number): readonly Finding[] {
  const certificate = parsed(file, (pem) => new X509Certificate(pem))
  if (typeof certificate === 'string') return [unreadable(file, certificate)]
  const [fromMs, untilMs] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()]
  const until = certificate.validToDate.toISOString()
  const renew = 'renew it; the servers read it again when the file changes'
  if (nowMs < fromMs)
    return [broken(`${file} is valid only from ${certificate.validFromDate.toISOString()}`, renew)]
  if (nowMs >= untilMs) return [broken(`${file} has expired at ${until}`, renew)]
  const days = Math.floor((untilMs - nowMs) / dayMs)
  if (days < soonDays) return [warning(`${file} expires in ${days} days, at ${until}`, renew)]
  return [ok(`${file} is valid until ${until}`)]
}

const unreadable = (file: string, why: string): Finding =>
  broken(`${file} cannot be read (${why})`, 'it must be PEM, and this user must be able to read it')

/** @returns why it cannot be; never its content */
function parsed<T extends object>(file: string, parse: (pem: string) => T): T | string {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    return codeOf(error) ?? 'it is not what it should be'
  }
}
