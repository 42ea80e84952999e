import type { VerdictKind } from './verdict.ts'

const marks: Readonly<Record<VerdictKind, string>> = {
  matches: 'M18 33l10 10 20-22',
  consistent: 'M20 33h26',
  unpinned: 'M20 33h26',
  foreign: 'M22 44l22-22M28 22h16v16',
  invalid: 'M22 22l22 22M44 22L22 44',
}

/** The verdict as a seal; its words stand beside it. */
export const Seal = ({ kind }: { readonly kind: VerdictKind }) => (
  <svg class="proof-seal" viewBox="0 0 66 66" aria-hidden="true" focusable="false">
    <path class="proof-seal-edge" d={edge} />
    <circle cx="33" cy="33" r="24" />
    <path class="proof-seal-mark" d={marks[kind]} />
  </svg>
)

/** Sixteen soft teeth round a circle. */
const edge = `M${Array.from({ length: 32 }, (_, at) => {
  const [angle, radius] = [(at * Math.PI) / 16, at % 2 === 0 ? 32 : 29]
  const [x, y] = [33 + radius * Math.sin(angle), 33 - radius * Math.cos(angle)]
  return `${x.toFixed(1)} ${y.toFixed(1)}`
}).join('L')}Z`
