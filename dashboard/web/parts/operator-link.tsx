import { config } from '../me.ts'
import { texts } from '../texts.ts'

/** “the operator of this network”, as a link where there is an address for people. */
export function OperatorLink() {
  const { contact } = config.value
  const words = texts.common.operatorOfNetwork
  if (contact === undefined) return <>{words}</>
  return (
    <>
      <a href={contact.href}>{words}</a> ({contact.text})
    </>
  )
}
