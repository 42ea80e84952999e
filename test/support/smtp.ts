/** A real SMTP server on a free port that stores the mails it receives, and misbehaves on request. */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Certificate } from './certificates.ts'
import { eventually } from './eventually.ts'

export type ReceivedMail = {
  readonly to: string
  readonly from: string
  /** As received: headers and parts, transfer encodings undone. */
  readonly text: string
}

export type TestSmtp = AsyncDisposable & {
  readonly url: string
  /** The same server at an address that no rule takes for this machine's own. */
  readonly farUrl: string
  readonly mails: readonly ReceivedMail[]
  /** Answers 550 to these recipients. */
  readonly refuse: Set<string>
  /** Recipients that receive a response when the promise resolves. */
  readonly hold: Map<string, Promise<void>>
  /** The first mail to the address whose text matches. */
  readonly mailTo: (address: string, fits?: RegExp) => Promise<ReceivedMail>
}

type Options = {
  /** 0: any free one. */
  readonly port?: number
  /** It offers STARTTLS with it; absent: it does not. */
  readonly certificate?: Certificate
  /** A client must sign in with what this is at that moment; absent: it need not. */
  readonly password?: () => string
}

export async function testSmtp({
  port = 0,
  certificate,
  password,
}: Options = {}): Promise<TestSmtp> {
  const mails: ReceivedMail[] = []
  const refuse = new Set<string>()
  const hold = new Map<string, Promise<void>>()
  const server = new SMTPServer({
    authOptional: password === undefined,
    onAuth: (given, _session, done) =>
      given.password === password?.()
        ? done(null, { user: given.username })
        : done(Object.assign(new Error('wrong password'), { responseCode: 535 })),
    ...(certificate ?? { disabledCommands: ['STARTTLS'] }),
    logger: false,
    onRcptTo: ({ address }, _session, done) => {
      const refused = Object.assign(new Error('no such mailbox'), { responseCode: 550 })
      void Promise.resolve(hold.get(address)).then(() =>
        done(refuse.has(address) ? refused : undefined),
      )
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom } = envelope
        mails.push({
          to: envelope.rcptTo.map(({ address }) => address).join(' '),
          from: mailFrom === false ? '' : mailFrom.address,
          text: decoded(Buffer.concat(chunks).toString('utf8')),
        })
        done()
      })
    },
  })
  // a client that disconnects is part of the test
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  const { port: bound } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${bound}`,
    farUrl: `smtp://0.0.0.0:${bound}`,
    mails,
    refuse,
    hold,
    mailTo: (address, fits = /^/) =>
      eventually(`a mail to ${address} that has ${fits}`, () =>
        mails.find(({ to, text }) => to === address && fits.test(text)),
      ),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** Quoted-printable undone, roughly: enough to look for words and links. */
export const decoded = (text: string): string =>
  Buffer.from(
    text
      .replaceAll(/=\r?\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    'latin1',
  ).toString('utf8')

/** Our link in a mail. */
export const linkIn = ({ text }: ReceivedMail): string =>
  /https?:\/\/\S+\?token=[\w-]{43}/.exec(text)?.[0] ?? ''
