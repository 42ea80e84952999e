type BadgeProps = { readonly of: { readonly label: string; readonly kind: string } }

export const Badge = ({ of: { label, kind } }: BadgeProps) => (
  <span class={kind === '' ? 'badge' : `badge ${kind}`}>{label}</span>
)
