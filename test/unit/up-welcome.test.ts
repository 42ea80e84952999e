import { expect, test } from 'vitest'
import { printWelcome } from '../../cli/up/welcome.ts'

const instance = {
  rpc: 'http://127.0.0.1:8545',
  contract: '0x12',
  api: 'http://127.0.0.1:8080',
  nats: 'tls://127.0.0.1:4222',
  key: 'aqk_x',
  account: { email: 'a@b.example', password: 'p' },
  pids: {},
}

const welcome = (listen: string | undefined, env = {}, isOwnChain = true): string => {
  const lines: string[] = []
  printWelcome(instance, { dataFolder: '/data', listen, isOwnChain, env }, (line) =>
    lines.push(line),
  )
  return lines.join('\n')
}

test('listening only on this machine it shows how sensors are let in', () => {
  expect(welcome(undefined)).toContain('listens only on this machine; --listen ADDRESS')
  expect(welcome(undefined)).not.toContain('AIRPROOF_PUBLIC_URL')
})

test('the account is not an operator, and the line that makes it one is shown', () => {
  expect(welcome(undefined)).toContain('npx airproof accounts role a@b.example operator')
})

test('the chain that it runs is called a demonstration chain, and another one is not', () => {
  expect(welcome(undefined)).toContain(
    '8545 (31337, a local test chain, for demonstration only; contract 0x12)',
  )
  expect(welcome(undefined, {}, false)).toContain('8545 (contract 0x12)')
})

test('where others reach it, it shows the address, and that links need a name', () => {
  expect(welcome('192.0.2.7')).toContain('All of it listens on 192.0.2.7')
  expect(welcome('192.0.2.7')).toContain('set AIRPROOF_PUBLIC_URL')
  const named = { AIRPROOF_PUBLIC_URL: 'https://air.example' }
  expect(welcome('0.0.0.0', named)).not.toContain('AIRPROOF_PUBLIC_URL')
  expect(welcome('0.0.0.0')).not.toContain('listens on 0.0.0.0 ')
})
