import { config } from '../me.ts'

/** “the operator of this network”, as a link where there is an address for people. */
export function OperatorLink() {
  const { contact } = config.value
  const words = 'the operator of this network'
  if (contact === undefined) return <>{words}</>
  return (
    <>
      <a href={contact.href}>{words}</a> ({contact.text})
    </>
  )
}
