import type { Environment } from '../../runtime/settings.ts'

/** Empty is none; absent would be read from `.env` again. */
const noReadToken = { INFLUX_READ_TOKEN: '', INFLUX_READ_TOKEN_FILE: '' }
const noStore = {
  INFLUX_URL: '',
  INFLUX_TOKEN: '',
  INFLUX_TOKEN_FILE: '',
  INFLUX_ORG: '',
  INFLUX_BUCKET: '',
  ...noReadToken,
}

/**
 * The settings of InfluxDB that one of our processes needs: the pipeline writes, the API only reads, and so
 * does the archive unless it lets old readings go; the others never ask it.
 */
export function storeEnvironmentOf(name: string, env: Environment): Environment {
  if (!['pipeline', 'archive', 'api'].includes(name)) return noStore
  const deletes = name === 'archive' && (env['AIRPROOF_RAW_DAYS'] ?? '') !== ''
  const [token, file] = [env['INFLUX_READ_TOKEN'] ?? '', env['INFLUX_READ_TOKEN_FILE'] ?? '']
  if (name === 'pipeline' || deletes || (token === '' && file === '')) return noReadToken
  return { ...noReadToken, INFLUX_TOKEN: token, INFLUX_TOKEN_FILE: file }
}
