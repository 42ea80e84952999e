/**
 * The events of the demonstration, so that each alert is seen within minutes: one sensor falls
 * silent for a minute every five, another one rises above 300 every ten. All else is calm.
 */
import type { SignatureAlgorithm } from '../../core/air/device-signature.ts'
import { minuteMs } from '../../core/time.ts'
import { roundTo } from './city.ts'
import type { Condition } from './condition.ts'
import type { Measured } from './measure.ts'

/** Of the demonstration's sensors, those that sign, by their index. */
export const signingSensors: ReadonlyMap<number, SignatureAlgorithm> = new Map([
  [2, 'ed25519'],
  [3, 'p256'],
  [4, 'ed25519'],
  [5, 'p256'],
  [6, 'ed25519'],
])

export const silentSensor = 0
export const risingSensor = 1

/** @param sinceStartMs since the demonstration began */
export function demoCondition(sensor: number, sinceStartMs: number): Condition {
  const within = sinceStartMs % (5 * minuteMs)
  const isSilent = within >= minuteMs && within < 2 * minuteMs
  return sensor === silentSensor && isSilent ? 'dark' : 'sending'
}

/** For two minutes of every ten the rising sensor is in smoke; else it measures good air. */
export function demoMeasured(sensor: number, sinceStartMs: number, measured: Measured): Measured {
  if (sensor !== risingSensor) return measured
  const within = sinceStartMs % (10 * minuteMs)
  const isSmoky = within >= 2 * minuteMs && within < 4 * minuteMs
  const pm25 = isSmoky ? 240 + measured.pm25 : Math.min(measured.pm25, 120)
  return { ...measured, pm25: roundTo(pm25, 1), pm10: roundTo(pm25 * 1.4, 1) }
}
