import { utcTime } from '../../parts/time/times.ts'
import { When } from '../../parts/time/when.tsx'

/** A time as a certificate says it: the reader's, and UTC beside it for everyone else. */
export const Moment = ({ at }: { readonly at: number }) => (
  <span class="proof-moment">
    <When at={at} />
    <span class="proof-utc">{utcTime(at)}</span>
  </span>
)
