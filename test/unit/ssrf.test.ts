import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judgeAddress } from '../../core/access/public-address.ts'
import { judgeWebhookUrl } from '../../core/delivery/webhook-url.ts'

const { source: _, ...verdicts } = JSON.parse(
  readFileSync('test/fixtures/special-addresses.json', 'utf8'),
) as Record<string, string[]>

const addresses = Object.entries(verdicts).flatMap(([verdict, list]) =>
  list.map((address) => [address, verdict] as const),
)

test.each(addresses)('the address %j is %s', (address, verdict) => {
  expect(judgeAddress(address)).toBe(verdict)
})

const faults = {
  ip_literal: [
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://0x7f000001/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://127.0.1/',
    'https://0/',
    'https://127.0.0.1./',
    'https://①②⑦.0.0.1/',
    'https://8.8.8.8/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://%31%32%37.0.0.1/',
  ],
  local_name: [
    'https://localhost/',
    'https://localhost./',
    'https://LOCALHOST/',
    'https://ⓛocalhost/',
    'https://a.localhost/',
    'https://metadata/',
    'https://metadata.google.internal/',
    'https://metadata.google.internal./',
    'https://instance-data.ec2.internal/',
    'https://printer.local/',
    'https://nas.lan/',
    'https://router.home.arpa/',
    'https://1.0.0.127.in-addr.arpa/',
    'https://com/',
  ],
  userinfo: [
    'https://user@hooks.example.com/',
    'https://a:b@hooks.example.com/',
    'https://8.8.8.8@127.0.0.1/',
  ],
  not_https: [
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'gopher://hooks.example.com/',
    'javascript:alert(1)',
    'data:text/plain,x',
  ],
  port: [
    'https://hooks.example.com:22/',
    'https://hooks.example.com:6379/',
    'https://hooks.example.com:80/',
  ],
  not_a_url: [
    '',
    'hooks.example.com',
    'https://',
    'https://a b/',
    'https://[::1',
    'https://exa<mple.com',
    'https://1.2.3.4.5.256/',
    'https://[fe80::1%25eth0]/',
  ],
  too_long: [
    `https://hooks.example.com/${'x'.repeat(2_048)}`,
    `https://hooks.example.com/${'é'.repeat(800)}`,
  ],
  name_too_long: [`https://${'a.'.repeat(127)}com/`],
}

test.each(
  Object.entries(faults).flatMap(([fault, urls]) => urls.map((url) => [url, fault] as const)),
)('the URL %s is refused: %s', (url, fault) => {
  expect(judgeWebhookUrl(url)).toEqual({ fault })
})

test.each([
  ['https://hooks.example.com', 'https://hooks.example.com/'],
  ['HTTPS://HOOKS.Example.COM:443/a?b#c', 'https://hooks.example.com/a?b'],
  ['https://hooks.example.com:8443/x', 'https://hooks.example.com:8443/x'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://hooks.example.com./', 'https://hooks.example.com./'],
])('the URL %s is read as %s', (text, url) => {
  expect(judgeWebhookUrl(text)).toEqual({ url })
})

test('insecure also allows http, any port and loopback, and nothing else', () => {
  const verdict = (url: string) => judgeWebhookUrl(url, { allowInsecure: true })
  for (const url of [
    'http://127.0.0.1:9000/',
    'http://localhost:3000/',
    'http://[::1]:1/',
    'http://hooks.example.com:81/',
  ])
    expect(verdict(url)).toEqual({ url })
  expect(verdict('http://10.0.0.1/')).toEqual({ fault: 'ip_literal' })
  expect(verdict('http://169.254.169.254/')).toEqual({ fault: 'ip_literal' })
  expect(verdict('http://0.0.0.0/')).toEqual({ fault: 'ip_literal' })
  expect(verdict('http://8.8.8.8/')).toEqual({ fault: 'ip_literal' })
  expect(verdict('http://metadata.google.internal/')).toEqual({ fault: 'local_name' })
  expect(verdict('http://me@localhost/')).toEqual({ fault: 'userinfo' })
})
