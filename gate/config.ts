import { readSettings, type SettingsSource } from '../runtime/settings.ts'

export type GateConfig = {
  /** Where existing firmware posts its readings over HTTP. */
  readonly push: { readonly host: string /** 0: any free one. */; readonly port: number }
}

/** @throws WrongUsage that names the variable */
export function readGateConfig(source: SettingsSource): GateConfig {
  const settings = readSettings(source)
  return {
    push: {
      host: settings.text('AIRPROOF_PUSH_HOST', { default: '127.0.0.1' }),
      port: settings.port('AIRPROOF_PUSH_PORT', { default: 8082 }),
    },
  }
}
