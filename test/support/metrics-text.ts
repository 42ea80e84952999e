/** The sum over the series of a metric in what `/metrics` answered; 0: there is none. */
export const sumOf = (text: string, name: string): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
