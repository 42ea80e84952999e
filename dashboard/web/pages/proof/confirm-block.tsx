import { useState } from 'preact/hooks'
import type { Network } from '../../../../anchor/verifier/airproof-verify.js'
import { texts } from '../../texts.ts'
import { type Asked, askNode } from './ask-node.ts'
import type { Bundle } from './bundle.ts'
import type { Facts } from './facts.ts'
import { isHash, nodeAddress } from './verdict.ts'

type ConfirmProps = {
  readonly bundle: Bundle
  readonly facts: Facts
  readonly network: Network
  /** What the reader typed as the block's hash. */
  readonly hash: string
  readonly onHash: (hash: string) => void
  readonly onAsked: (asked: Asked & { readonly host: string }) => void
}

/** For the next proof; gone with the page, because an address may hold a key. */
let lastNode = ''

/** The reader's two ways to know that the block is part of the chain. */
export function ConfirmBlock(props: ConfirmProps) {
  const { confirm } = texts.proof
  return (
    <section class="proof-confirm card" aria-labelledby="proof-confirm">
      <h2 id="proof-confirm">{confirm.title}</h2>
      <p>{confirm.why}</p>
      <AskNode {...props} />
      <TypeHash {...props} />
      {props.bundle.explorerUrl !== undefined && (
        <p>
          <a href={props.bundle.explorerUrl} rel="noreferrer">
            {confirm.explorer}
          </a>
        </p>
      )}
    </section>
  )
}

function AskNode({ bundle, facts, network, onAsked }: ConfirmProps) {
  const { confirm } = texts.proof
  const [address, setAddress] = useState(lastNode)
  const [state, setState] = useState<'idle' | 'asking'>('idle')
  const [problem, setProblem] = useState('')
  const ask = async (): Promise<void> => {
    const url = nodeAddress(address)
    if (url === undefined) {
      setProblem(confirm.wrongAddress)
      return
    }
    const { host } = url
    setProblem('')
    setState('asking')
    const asked = await askNode({
      bytes: bundle.bytes,
      network,
      rpc: url.href,
      beacon: facts.batch.beacon ?? '0x0',
    })
    setState('idle')
    if (asked.kind === 'no answer') setProblem(confirm.noAnswer(host))
    else if (asked.kind === 'other chain') setProblem(confirm.otherChain(host))
    else if (asked.kind === 'not final') setProblem(confirm.notFinal(host))
    else {
      lastNode = url.href
      onAsked({ ...asked, host })
    }
  }
  return (
    <form
      class="proof-node"
      onSubmit={(event) => {
        event.preventDefault()
        void ask()
      }}
    >
      <label class="field">
        {confirm.node}
        <input
          class="mono"
          type="text"
          inputMode="url"
          value={address}
          onInput={({ currentTarget }) => setAddress(currentTarget.value)}
          placeholder="https://…"
          spellcheck={false}
          autocomplete="off"
          aria-invalid={problem !== ''}
          aria-describedby="proof-node-hint"
        />
      </label>
      <button type="submit" class="primary" disabled={state === 'asking'}>
        {state === 'asking' ? confirm.asking : confirm.ask}
      </button>
      <span id="proof-node-hint" class={problem === '' ? 'hint' : 'error'} role="status">
        {problem === '' ? confirm.nodeHint : problem}
      </span>
    </form>
  )
}

function TypeHash({ hash, onHash }: ConfirmProps) {
  const { confirm } = texts.proof
  const isUsable = hash === '' || isHash(hash)
  return (
    <label class="field">
      {confirm.hash}
      <input
        class="mono"
        value={hash}
        onInput={({ currentTarget }) => onHash(currentTarget.value.trim().toLowerCase())}
        placeholder="0x…"
        spellcheck={false}
        autocomplete="off"
        aria-invalid={!isUsable}
        aria-describedby="proof-hash-hint"
      />
      <span id="proof-hash-hint" class={isUsable ? 'hint' : 'error'}>
        {isUsable ? confirm.hashHint : confirm.wrongHash}
      </span>
    </label>
  )
}
