/** A certificate authority made at run time by openssl, and certificates of it, good and bad. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Certificate = { readonly key: string; readonly cert: string }

export type Authority = {
  readonly ca: string
  readonly issue: (wish: {
    readonly name: string
    /** `[not before, not after]`, YYYYMMDDHHMMSSZ; by default valid now. */
    readonly validity?: readonly [string, string]
  }) => Certificate
}

export function testAuthority(folder: string): Authority {
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=test',
    '-days',
    '2',
  )
  let count = 0
  return {
    ca: readFileSync(join(folder, 'ca.pem'), 'utf8'),
    issue: ({ name, validity }) => {
      const base = `c${++count}`
      writeFileSync(
        join(folder, `${base}.ext`),
        `subjectAltName=${/^[\d.]+$/.test(name) ? 'IP' : 'DNS'}:${name}\n`,
      )
      openssl(
        'req',
        ...key,
        '-keyout',
        `${base}.key`,
        '-out',
        `${base}.csr`,
        '-subj',
        `/CN=${name}`,
      )
      const out = ['-in', `${base}.csr`, '-out', `${base}.pem`, '-extfile', `${base}.ext`]
      if (validity === undefined) {
        const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', String(count)]
        openssl('x509', '-req', ...out, ...by, '-days', '2')
      } else {
        // only `ca` can set both dates, and it needs a special folder
        writeFileSync(join(folder, `${base}.cnf`), authorityConfig(base))
        writeFileSync(join(folder, `${base}.index`), '')
        const [from, until] = validity
        openssl(
          'ca',
          '-batch',
          '-notext',
          '-config',
          `${base}.cnf`,
          ...out,
          '-startdate',
          from,
          '-enddate',
          until,
        )
      }
      return {
        key: readFileSync(join(folder, `${base}.key`), 'utf8'),
        cert: readFileSync(join(folder, `${base}.pem`), 'utf8'),
      }
    },
  }
}

const authorityConfig = (base: string): string => `
[ca]
default_ca = own
[own]
new_certs_dir = .
database = ${base}.index
rand_serial = yes
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
[any]
commonName = supplied
`
