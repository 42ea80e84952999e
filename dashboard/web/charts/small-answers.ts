import type { StepAnswer } from './series.ts'

/** Compressed, this count of numbers is some 10 kB. */
const mostNumbers = 3_600

/** The quantities in groups that make small answers, each of which has the index too. */
export function smallAnswers(
  quantities: readonly string[],
  stepCount: number,
): readonly (readonly string[])[] {
  const most = Math.max(1, Math.floor(mostNumbers / (3 * Math.max(1, stepCount))) - 1)
  const groups: (readonly string[])[] = []
  for (let at = 0; at < quantities.length; at += most) groups.push(quantities.slice(at, at + most))
  return groups.length > 0 ? groups : [[]]
}

/** Answers about the same steps as one; a step that has only just begun may be in the last ones. */
export function merged(answers: readonly (readonly StepAnswer[])[]): readonly StepAnswer[] {
  const [first = [], ...others] = answers
  const byStart = others.map(
    (steps) => new Map(steps.map((step) => [step.start_time, step.measurements])),
  )
  return first.map((step) => ({
    ...step,
    measurements: Object.assign(
      {},
      step.measurements,
      ...byStart.map((of) => of.get(step.start_time)),
    ),
  }))
}
