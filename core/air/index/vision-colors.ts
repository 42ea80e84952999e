/**
 * The colours of every index for people who see colours differently, best to worst. Each differs from
 * the next by CIEDE2000 18 or more, for every kind of colour vision, and is darker than the one before
 * but for the second. The US EPA's own second palette has 11 between its last two, which a mark or a
 * band of a chart does not bear.
 */
export const visionColors = [
  '#bdefff',
  '#ffec5c',
  '#e67f20',
  '#bb3450',
  '#5d2a8c',
  '#120820',
] as const
