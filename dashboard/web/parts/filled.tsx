import type { ComponentChild } from 'preact'
import { fill } from '../../texts/fill.ts'

type FilledProps = {
  readonly text: string
  /** Name in the text → what it is made into. */
  readonly parts: Readonly<Record<string, (label: string) => ComponentChild>>
}

/** A text of the catalogue with links or marks in it. */
export const Filled = ({ text, parts }: FilledProps) => <>{fill(text, parts)}</>
