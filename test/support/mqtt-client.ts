import { connect, type IClientOptions, type MqttClient } from 'mqtt'

/** Signs in as a device does. @throws the refusal, with the library's message */
export async function mqttClient(
  url: string,
  { id, secret, ...options }: { readonly id: string; readonly secret: string } & IClientOptions,
): Promise<MqttClient> {
  const client = connect(url, {
    clientId: id,
    username: id,
    password: secret,
    reconnectPeriod: 0,
    connectTimeout: 20_000,
    protocolVersion: 4,
    ...options,
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  client.once('connect', () => resolve())
  client.once('error', reject)
  client.once('close', () => reject(new Error('closed by the server')))
  try {
    await promise
  } catch (error) {
    client.end(true)
    throw error
  }
  // the caller checks what the server does later
  client.on('error', () => undefined)
  return client
}
